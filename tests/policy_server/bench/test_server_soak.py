"""The server's soak, short: four robots are served evenly beside a client that never waits for an answer."""

from __future__ import annotations

from pathlib import Path

from policy_server.bench.soak import run

ROOT = Path(__file__).resolve().parents[3]


def test_four_robots_beside_a_flood_are_all_answered() -> None:
    result = run(ROOT / "bundles" / "trained-foresight", seconds=4.0, robot_hz=5.0, flood_hz=100.0, sample_s=0.5)
    assert result["failures"] == []
    assert result["flood"]["sent"] > 50, "the flood was none"
    assert all(robot["chunks"] == robot["sent"] for robot in result["robots"]), "a question was not answered"
    assert result["fewest_over_most"] > 0.5
    assert len(result["rss_mib"]) > 4
