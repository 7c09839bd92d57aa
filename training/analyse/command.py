"""`yam-train analyse`: raw outcomes to results.json and index.html."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from training.analyse.findings import findings
from training.analyse.outcomes import read_results
from training.analyse.page import page


def analyse_results(raw: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write both files into `out`. Raises `ConfigurationError` for raw results that cannot be read."""
    results = read_results(raw)
    found = findings(results)
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (out / "index.html").write_text(page(found, results, raw), encoding="utf-8")
    say(f"{out / 'index.html'}, {out / 'results.json'}: {sum(len(tried) for _, tried in results.cells)} trials")
