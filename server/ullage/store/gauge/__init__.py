"""What counting needs: tokenizers, kept counts, the model table."""
