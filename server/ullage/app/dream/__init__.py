"""Long-term memory out of daily logs and old sessions: dreams, backfills, and their review."""
