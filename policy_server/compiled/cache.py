"""EngineCache: engines by what they were built from, so that an equal build is not done twice."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from policy_server.bundle import file_sha256
from policy_server.compiled.record import GraphEngine


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the bytes of an engine."""

    source_sha256: str
    compiler: str
    compiler_version: str
    card: str
    branches: tuple[int, int, int]

    @property
    def key(self) -> str:
        """40 hex digits."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True)
class EngineCache:
    """A folder of `KEY.engine` and `KEY.json`. An entry is there when its json is; a damaged one counts as missing."""

    folder: Path

    def get(self, recipe: Recipe) -> tuple[Path, GraphEngine] | None:
        """File and facts of an engine built before, unaltered since."""
        path = self.folder / f"{recipe.key}.engine"
        try:
            facts = GraphEngine.model_validate_json(path.with_suffix(".json").read_text(encoding="utf-8"))
            intact = path.stat().st_size == facts.size_bytes and file_sha256(path) == facts.engine_sha256
        except (OSError, ValidationError):
            return None
        return (path, facts) if intact and facts.source_sha256 == recipe.source_sha256 else None

    def put(self, recipe: Recipe, engine: bytes, facts: GraphEngine) -> Path:
        """Keep an engine; the json comes last, each file in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{recipe.key}.engine"
        _write(path, engine)
        _write(path.with_suffix(".json"), facts.model_dump_json().encode())
        return path


def default_cache() -> EngineCache:
    """`$XDG_CACHE_HOME/yam-policy/engines`, or the same under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return EngineCache(Path(base) / "yam-policy" / "engines")


def _write(path: Path, data: bytes) -> None:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_bytes(data)
    os.replace(scratch, path)
