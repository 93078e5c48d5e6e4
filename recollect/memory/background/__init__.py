"""The quiet worker that writing leaves behind: a process of its own, of low priority, one a store."""
