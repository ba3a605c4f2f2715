"""Series in: files and frames to arrays, windows, scaling, generated telemetry."""
