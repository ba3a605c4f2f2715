"""Benchmarks: a suite lists jobs, an engine runs them, every job becomes one row of a CSV file."""
