"""What the views of an editor ask for, and the gauge, which comes by itself."""
