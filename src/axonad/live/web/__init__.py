"""The web part of ``axonad live``: pages, REST, metrics, and who may use them."""
