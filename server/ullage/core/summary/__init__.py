"""Summaries: extracted by rule or asked of a model, audited and completed."""
