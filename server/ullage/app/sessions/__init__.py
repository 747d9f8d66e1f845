"""Sessions: found, recognized, read, measured, and followed while they grow."""
