"""Summaries by a model: the only layer that talks to one."""
