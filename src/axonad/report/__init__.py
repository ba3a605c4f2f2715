"""Rows, scores and events → tables and figures a person looks at."""
