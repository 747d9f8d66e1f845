"""Prose read by rule: sentences, what they claim, identifiers, Markdown, places in a text."""
