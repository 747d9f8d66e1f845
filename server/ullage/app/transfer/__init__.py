"""Copies of sessions: branched, exported, imported, repaired."""
