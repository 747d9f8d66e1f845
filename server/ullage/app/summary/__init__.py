"""Summaries for a compaction: by a model or by rule, audited and completed."""
