"""What the arms' bridge says of itself, by mailbox: the client engages nothing while it has trouble."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

from robot_client.clock import NS_PER_S
from robot_client.mailbox import MailboxReader
from robot_client.twin.topics import path_of
from yam_vam.arms_bridge import STATUS

SILENT_NS: Final = 2 * NS_PER_S


class BridgeState:
    """The newest state; a bridge that has said nothing for two seconds is trouble itself."""

    def __init__(self, run_dir: Path) -> None:
        self._mailbox = MailboxReader(path_of(run_dir, STATUS))
        self._since_ns = time.monotonic_ns()

    def trouble(self) -> str:
        """Why the arms are not driven as they should be; empty: they are."""
        letter = self._mailbox.newest()
        heard_ns = self._since_ns if letter is None else letter.stamp_ns
        if time.monotonic_ns() - heard_ns > SILENT_NS:
            return "the arms' bridge says nothing"
        return str(self.values().get("trouble", ""))

    def values(self) -> dict[str, Any]:
        """For diagnostics."""
        letter = self._mailbox.newest()
        return {} if letter is None else dict(json.loads(letter.payload))

    def close(self) -> None:
        """Let go of the mailbox."""
        self._mailbox.close()
