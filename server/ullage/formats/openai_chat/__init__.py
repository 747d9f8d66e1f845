"""Messages of OpenAI's chat completions, which most servers of models speak; no agent's own."""
