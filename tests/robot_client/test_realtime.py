"""Real-time rights are asked for once, and a refusal says how to get them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from robot_client import realtime


def test_every_right_is_reported_as_got_or_refused() -> None:
    code = "import json, robot_client.realtime as r; print(json.dumps(r.take_rights()))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    rights = json.loads(out)
    assert set(rights) == {"scheduler", "memory lock", "garbage"}
    assert all(text.startswith(("got", "refused")) for text in rights.values())


def test_a_refused_scheduler_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    assert realtime.fifo(50).startswith("refused")
    assert "ulimit -r 50" in realtime.fifo(50)
