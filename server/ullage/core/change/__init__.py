"""What is done to a context: decided, selected, and described before it is made."""
