"""What a server did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """Counts since start; written by the socket thread alone."""

    received: int = 0
    replans: int = 0
    imagined: int = 0
    superseded: int = 0
    """Observations answered Skipped because a newer one of their session came."""
    too_late: int = 0
    """Observations answered Skipped because their budget was over before their turn."""
    refused: int = 0
    """Requests answered with an error of the client's making."""
    engine_faults: int = 0
    unreadable: int = 0
    """Messages without a readable request id; dropped."""
    orphaned: int = 0
    """Answers whose session had a new holder; dropped."""
    unreachable: int = 0
    """Answers whose connection was gone or took nothing more; dropped."""
