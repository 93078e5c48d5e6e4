"""What makes records of drafts: ids, the tree, and which stored conversation an incoming one is."""
