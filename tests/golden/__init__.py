"""What users saw of release 0.2.0: models, series, and what every way in makes of them."""
