"""What is known of a file's mutants, kept while it runs, so that a run that was ended can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant


class Record:
    """Lines of a file in out/: a mutant's hash, the hash of source and tests it was run with, whether it survived.

    What was run with other tests or another source counts for nothing; with `keep_noticed` a mutant that older tests
    noticed counts as noticed, which is right where tests were only added.
    """

    def __init__(self, path: Path, texts: Sequence[str], keep_noticed: bool) -> None:
        self._path, self._version = path, _hash("\0".join(texts))
        self._known: dict[str, bool] = {}
        for line in path.read_text().splitlines() if path.is_file() else []:
            entry = json.loads(line)
            if entry["version"] == self._version or (keep_noticed and not entry["survives"]):
                self._known[entry["mutant"]] = entry["survives"]

    def of(self, mutant: Mutant) -> bool | None:
        """Whether it survived; none while it was not run."""
        return self._known.get(_hash(mutant.source))

    def add(self, mutant: Mutant, survives: bool) -> None:
        """Keeps it at once."""
        entry = {"mutant": _hash(mutant.source), "version": self._version, "survives": survives}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self._known[entry["mutant"]] = survives


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
