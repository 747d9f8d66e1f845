"""What an editor shows of the documents that are open in it."""
