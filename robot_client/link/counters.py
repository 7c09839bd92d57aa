"""What a link did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LinkCounters:
    """Counts since the link was made."""

    submitted: int = 0
    answered: int = 0
    skipped: int = 0
    """Observations the server passed over for a newer one."""
    replaced: int = 0
    """Observations replaced by a newer one before they were sent."""
    failed: int = 0
    """Requests that ended in an error from the server, a broken answer or a lost connection."""
    timed_out: int = 0
    late: int = 0
    """Answers to requests that were given up or never made; thrown away."""
    unreadable: int = 0
    """Messages that are none of this protocol; thrown away."""
    connections: int = 0
    """Times a server accepted the session."""
    probes: int = 0
    """Times another client wanted this session's name."""
