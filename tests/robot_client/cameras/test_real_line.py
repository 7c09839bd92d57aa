"""The whole line of real arms, end to end on this machine: emulated motors, made-up cameras, a scripted server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import av
import numpy as np
import pytest

from contract.station import load_station
from robot_client.demo.children import Child, start_child
from robot_client.emulator.port import truth_of
from robot_client.holder.places import arms_directory
from robot_client.holder.start import start_holders
from robot_client.mailbox import MailboxReader

ROOT = Path(__file__).parents[3]
CHANGES = (
    ('bus = "socketcan"', 'bus = "emulated"'),
    ("heartbeat_ms = 100.0", "heartbeat_ms = 200.0"),  # the machine may be busy
    ("joints_max_age_ms = 50.0", "joints_max_age_ms = 500.0"),
    ("driver_ms = 100.0", "driver_ms = 2000.0"),
    ("tracking_ms = 400.0", "tracking_ms = 4000.0"),
    ("camera_ms = 1000.0", "camera_ms = 5000.0"),
    ("camera_max_age_ms = 200.0", "camera_max_age_ms = 2000.0"),
    ("loop_hz = 200.0", "loop_hz = 100.0"),
    ("grace_ms = 300.0", "grace_ms = 2000.0"),
    ("height = 480", "height = 48"),
    ("width = 640", "width = 64"),
)


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Path]:
    """A station file with both arms held; its folder is the one that a person's commands would use."""
    text = (ROOT / "calibration/stations/yam_example.toml").read_text()
    for old, new in CHANGES:
        assert old in text
        text = text.replace(old, new)
    text = text.replace('name = "yam_example"', f'name = "line_{os.getpid()}"')
    path = tmp_path / "station.toml"
    path.write_text(text)
    pids = [each.pid for each in start_holders(str(path), realtime=False).values()]
    yield path
    for pid in pids:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    shutil.rmtree(arms_directory(load_station(str(path))))


@pytest.fixture
def server(tmp_path: Path, station: Path) -> Iterator[Child]:
    child = start_child("server", ["robot_client.faults.scripted_server", str(station)], tmp_path, eof=True)
    yield child
    child.end(1.0)


def joints_of(station: Path, arm: str) -> np.ndarray:
    """Where the emulated joints really are."""
    reader = MailboxReader(arms_directory(load_station(str(station))) / f"{arm}.truth.mail")
    letter = reader.newest()
    assert letter is not None
    values = truth_of(letter.payload)[0].copy()
    reader.close()
    return values


def film(path: Path) -> Path:
    """Half a second of a picture that gets brighter."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(5):
            image = np.full((48, 64, 3), 40 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return path


def test_emulated_arms_with_made_up_cameras_reach_policy_and_move(tmp_path: Path, station: Path, server: Child) -> None:
    """B19: role, device, size and age of every camera are said at the start; images come from camera processes."""
    address = server.wait_for_line("READY ", 60.0).split()[1]
    before = {arm: joints_of(station, arm) for arm in ("left", "right")}
    out = tmp_path / "out"
    command = ["run", "--rig", "yam", "--station", str(station), "--server", address, "--instruction", "go"]
    command += ["--cameras", f"left_wrist=file:{film(tmp_path / 'wrist.mp4')}", "top=pattern:table"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from robot_client.cli import main; main()", *command, "--headless", "--out", str(out),
         "--seconds", "6"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    most = {arm: 0.0 for arm in before}
    while process.poll() is None:
        for arm, start in before.items():
            most[arm] = max(most[arm], float(np.abs(joints_of(station, arm)[:6] - start[:6]).max()))
        time.sleep(0.05)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert "camera top <- pattern:table, serial pattern-table, 64x48" in said
    assert "camera left_wrist <- file:" in said
    assert "camera right_wrist <- pattern:right_wrist" in said, "emulated arms need no cameras"
    assert "POLICY" in said and "arms:   HOLD" in said
    replans = [json.loads(line) for line in (out / "replans.jsonl").read_text().splitlines()]
    assert len(replans) > 10
    assert min(most.values()) > 0.003, most
