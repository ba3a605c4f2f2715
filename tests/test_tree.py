"""``tools/tree.py`` on a made-up tree of a few lines."""

import subprocess
import sys
from textwrap import dedent

from tests.conftest import ROOT

FILES = {
    "__init__.py": '"""A package."""\n',
    "base/__init__.py": "from .detector import Detector as Detector\n",
    "base/detector.py": '''
        """The contract.

        Two paragraphs.
        """
        from typing import TYPE_CHECKING

        from axonad.base.mixin import Saving
        from axonad.event import label

        if TYPE_CHECKING:
            from axonad.pca import PCA

        class Detector(Saving):
            flag = False
            label = label  # a method

            @property
            def labels_(self): ...
            def fit(self): ...
            def _learn(self): ...
        ''',
    "base/mixin.py": "class Saving:\n    def save(self): ...\n    def fit(self): ...\n",
    "event.py": """
        from typing import Protocol

        class Event:
            start: int
            end: int

        class AlarmEvent(Event):
            pass

        class Change:
            event: Event

        class Shown(Protocol):
            pass

        def label(detector): ...
        def find_events(): ...
        def _hidden(): ...
        """,
    "pca.py": "from axonad.base import Detector\n\nclass PCA(Detector):\n    pass\n",
}
EXPECTED = {
    "files": "6",
    "code lines": "32",
    "longest file": "20",
    "units at the top": "4 (1 packages, 3 modules)",
    "levels": "–",
    "modules with one importer, in its own unit": "2",
    "modules with TYPE_CHECKING": "1, of axonad itself 1",
    "longest import cycle": "3",
    "protocols": "1",
    "classes": "7",
    "public names": "9",
    "Detector, files": "2",
    "Detector, public names": "3",
    "Detector, deepest subclass": "3",
    "finders of events": "1: find_events",
    "classes that carry an event": "2: AlarmEvent, Event",
    "ways to explain": "0",
}


def test_a_small_tree_is_counted(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "src" / "axonad" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    words = [sys.executable, ROOT / "tools" / "tree.py", tmp_path / "src", "--quick"]
    done = subprocess.run(  # noqa: S603
        words, capture_output=True, encoding="utf-8", check=True
    )
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    found = dict(rows)
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert "levels: FileNotFoundError" in done.stderr and len(done.stderr.splitlines()) == 1
