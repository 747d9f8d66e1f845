"""What happens by itself: checkpoints, compactions, and what is said or asked of them."""
