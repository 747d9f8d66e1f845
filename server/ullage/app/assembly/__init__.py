"""What is sent with a request, read from the disk."""
