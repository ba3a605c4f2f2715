"""AxonAD: anomaly detection for many sensors at once."""

__version__ = "0.1.0"
