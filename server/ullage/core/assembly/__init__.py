"""What is sent with a request: bootstrap files, skills, system prompt, history, their budget."""
