"""The whole line recorded: loop, planner, server and recorder as processes; then every question asked again."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from robot_client.demo.command import default_bundle
from robot_client.episodes.course import course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.info import info_of
from robot_client.episodes.policy_command import PolicyReplaySettings, run_policy_replay
from robot_client.episodes.policy_report import Tolerance
from robot_client.episodes.policy_server import serving
from robot_client.episodes.reader import BagReader
from tests.robot_client.patient import patient_station

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the policy needs onnxruntime"),
    pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the run's report needs matplotlib"),
]
CODE = "import sys; from robot_client.cli import main; sys.argv = ['yam-robot', *sys.argv[1:]]; main()"


RUN_S = 180.0
"""Against a run that hangs: its own waits are bounded by 60 s for each process that it starts, more than once on a busy
machine."""


def test_what_a_run_asked_is_answered_again_to_the_bit(tmp_path: Path) -> None:
    """Observations, seeds, rows and branches in the file are those that the server got; nothing was lost."""
    with serving("", default_bundle(), 1, tmp_path / "logs") as address:
        args = ["run", "--server", address, "--instruction", "put the red cube in the bin", "--rig", "ideal"]
        args += [
            "--station",
            str(patient_station(tmp_path)),
            "--seconds",
            "5",
            "--headless",
            "--out",
            str(tmp_path / "run"),
            "--record",
            str(tmp_path / "episodes"),
        ]
        done = subprocess.run(
            [sys.executable, "-c", CODE, *args], capture_output=True, text=True, timeout=RUN_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        folder = tmp_path / "episodes" / "episode_000000"
        assert f"{folder}: complete" in done.stdout.replace("\n", "")
        found = info_of(folder)
        assert found.complete, found.missing
        assert found.counts["/loop/tick"] > 250 and found.counts["/policy/observation"] >= 4
        assert {"top", "left_wrist", "right_wrist"} == {
            topic.split("/")[1] for topic in found.counts if topic.endswith("/image_raw/compressed")
        }
        decode = Decoder()
        modes = [json.loads(decode(one).data)["mode"] for one in BagReader(folder).messages(["/mode"])]
        assert modes[:2] == ["IDLE", "HANDOFF"] and "PARK" in modes
        assert np.ptp(course_of(folder).values, axis=0).max() > 0.05, "the arms moved"
        report = tmp_path / "policy.json"
        exact = Tolerance(rows=0.0, tr=0.0)
        settings = PolicyReplaySettings(folder, address, None, 1, exact, None, None, False, report)
        assert run_policy_replay(settings, Console(quiet=True)) == 0, report.read_text()
        content = json.loads(report.read_text())
        assert content["replans"] >= 4 and content["equal"] == content["replans"]
