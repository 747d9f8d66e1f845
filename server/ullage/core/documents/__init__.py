"""Findings and outlines for documents that are open in an editor."""
