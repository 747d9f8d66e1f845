"""What goes to the memory of a workspace before a compaction, and in what form."""
