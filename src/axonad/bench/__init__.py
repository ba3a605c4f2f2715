"""Benchmarks: suites → jobs → rows, on one machine or many."""
