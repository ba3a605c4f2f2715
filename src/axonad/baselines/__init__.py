"""The detectors AxonAD is compared with, one per file."""
