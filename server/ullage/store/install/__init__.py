"""Settings of agents on disk, and receipts of what an installation changed."""
