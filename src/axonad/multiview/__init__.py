"""Several views of a series, weighed by a self-test, as one detector."""
