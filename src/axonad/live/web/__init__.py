"""The page, REST, metrics and HTTP input of a running fleet."""
