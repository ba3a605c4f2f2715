"""Where vehicles are scored: one process, or many."""
