from tests.report.figures import drawn

__all__ = ["drawn"]
