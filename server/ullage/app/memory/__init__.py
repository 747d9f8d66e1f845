"""Memory of a workspace, flushed before a compaction."""
