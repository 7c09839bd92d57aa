"""Protocol number: raised whenever a byte on the wire changes meaning."""

from __future__ import annotations

from typing import Final

PROTOCOL: Final = 1
