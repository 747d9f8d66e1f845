"""Configuration: its keys, their values, and how what several places say becomes one."""
