"""Real-time rights are asked for once, and a refusal says how to get them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from robot_client import realtime


def test_every_right_is_reported_as_got_or_refused() -> None:
    code = "import json, robot_client.realtime as r; print(json.dumps(r.take_rights()))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    rights = json.loads(out)
    assert set(rights) == {"scheduler", "processor", "memory lock", "garbage"}
    assert all(text.startswith(("got", "refused")) for text in rights.values())


def test_a_refused_scheduler_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    assert realtime.fifo(50).startswith("refused")
    assert "ulimit -r 50" in realtime.fifo(50)


def test_each_process_gets_another_isolated_core_and_none_is_pinned_to_a_shared_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pinned to a core that other real-time processes used too, the loop was woken up to 114 ms late."""
    pinned: list[set[int]] = []
    monkeypatch.setattr("os.sched_setaffinity", lambda process, cores: pinned.append(cores))
    (tmp_path / "isolated").write_text("2-3\n")
    assert [realtime.pin(place, tmp_path / "isolated") for place in (0, 1)] == ["got core 3", "got core 2"]
    third = realtime.pin(2, tmp_path / "isolated")
    assert third.startswith("refused: 2 cores") and "isolcpus" in third
    (tmp_path / "isolated").write_text("\n")
    assert realtime.pin(0, tmp_path / "isolated").startswith("refused: 0 cores")
    assert realtime.pin(0, tmp_path / "none").startswith("refused: 0 cores")
    assert pinned == [{3}, {2}]


def test_a_kernels_list_of_cores_is_read() -> None:
    assert realtime.cores_of("2-4,7\n") == [2, 3, 4, 7]
    assert realtime.cores_of("\n") == []


def test_a_core_that_is_refused_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(process: int, cores: set[int]) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr("os.sched_setaffinity", refuse)
    (tmp_path / "isolated").write_text("5\n")
    assert "core 5: [Errno 22] Invalid argument" in realtime.pin(0, tmp_path / "isolated")
