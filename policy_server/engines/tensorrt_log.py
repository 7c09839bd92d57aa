"""What TensorRT says while it builds: warnings to the person, errors kept for the message that ends the build."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from policy_server.compiled.compiler import Progress


def build_log(api: ModuleType, say: Progress) -> Any:
    """A logger of the library with `errors`. Its base class exists only once the library is loaded."""

    class BuildLog(api.ILogger):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.errors: list[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity <= api.ILogger.Severity.ERROR:
                self.errors.append(message)
            elif severity == api.ILogger.Severity.WARNING:
                # Overflowing and subnormal half-precision weights are announced here (B44).
                say(f"  {message}")

    return BuildLog()
