"""Everything on disk: the only layer that opens files."""
