"""Scoring, live windows and training gradients on CPU cores."""
