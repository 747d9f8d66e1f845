"""Previews of compactions, and the page that explains diagnostics."""
