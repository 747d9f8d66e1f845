"""Changes of agents' files: under lock and journal, with receipts, and recovered."""
