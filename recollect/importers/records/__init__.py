"""Turn drafts into records: ids, the message tree, and which stored conversation is the same."""
