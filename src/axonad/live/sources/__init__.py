"""Where samples come from. Each source is one file and one line."""
