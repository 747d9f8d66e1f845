"""Settings of agents as text, with our hooks and plug-ins put in and taken out again."""
