"""Views: detectors that each see one thing well, such as the shape of windows."""
