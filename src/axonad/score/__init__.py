"""Model output → one score per step."""
