"""Ullage: gauge, checkpoint and compact the context of coding agents."""
