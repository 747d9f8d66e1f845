"""Ullage installed in coding agents, and taken out again."""
