"""The recorder as a process: fed, interrupted, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from contract.messages import Welcome
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_S
from robot_client.episodes.feed import FeedSender
from robot_client.episodes.folder import data_file
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.recover import recover
from robot_client.process_config import RecorderConfig, write_config
from robot_client.ticks import batch_of
from tests.robot_client.episodes import made
from tests.robot_client.stage import info
from tests.waiting import PATIENCE_S


class Process:
    """A recorder process with the test as loop, planner and supervisor."""

    def __init__(self, tmp_path: Path) -> None:
        address = f"ipc://{tmp_path}/feed"
        config = tmp_path / "recorder.json"
        write_config(config, RecorderConfig(rig="ideal", directory=str(tmp_path / "episodes"), feed=address))
        self.supervisor, theirs = channel_pair()
        self.loop, loop_theirs = channel_pair()
        fds = (theirs.fileno(), loop_theirs.fileno())
        args = ["--config", str(config), "--supervisor-fd", str(fds[0]), "--loop-fd", str(fds[1])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robot_client.episodes", *args],
            pass_fds=fds,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        theirs.close()
        loop_theirs.close()
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said.startswith("RECORDING ")
        self.folder = Path(said.split()[1])
        self.feed = FeedSender(address)
        self.feed.open()
        self.sent = 0

    def ticks(self, seconds: float) -> None:
        """Batches of 20 ticks at their real rate."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            batch = batch_of([made.tick(n) for n in range(self.sent, self.sent + 20)], self.sent)
            assert local_codec.send(self.loop, batch)
            self.sent += 20
            time.sleep(0.2)

    def end(self) -> int:
        self.loop.close()
        self.feed.close()
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()


def test_a_run_is_recorded_whole_and_an_interrupt_does_not_cut_it(tmp_path: Path) -> None:
    recorder = Process(tmp_path)
    recorder.feed.send(Welcome(info()))
    for sequence in range(3):
        asked = made.observation(sequence, time.monotonic_ns())
        assert recorder.feed.send(asked) and recorder.feed.send(made.answer_to(asked))
    recorder.process.send_signal(signal.SIGINT)
    recorder.ticks(0.7)
    local_codec.send(recorder.loop, made.status(time.monotonic_ns()))
    assert recorder.end() == 0
    found = info_of(recorder.folder)
    assert found.complete, found.missing
    assert found.counts["/loop/tick"] == recorder.sent
    assert found.counts["/policy/observation/top"] == found.counts["/policy/chunk"] == 3
    assert "policy" in _notes(recorder.folder)


def test_kill_9_costs_at_most_a_second_and_the_next_start_takes_the_next_number(tmp_path: Path) -> None:
    """B37, B38: no footer, no metadata.yaml; all but the newest chunk is saved, and nothing is written over."""
    recorder = Process(tmp_path)
    recorder.ticks(1.8)
    os.kill(recorder.process.pid, signal.SIGKILL)
    recorder.end()
    before = data_file(recorder.folder).read_bytes()
    assert not info_of(recorder.folder).complete
    saved = recover(recorder.folder, tmp_path / "saved")
    assert not saved.complete
    ticks = [message.sequence for message in BagReader(tmp_path / "saved").messages(["/loop/tick"])]
    assert ticks == list(range(len(ticks)))
    lost_ns = (recorder.sent - len(ticks)) * made.PERIOD_NS
    assert lost_ns <= NS_PER_S, f"{lost_ns / NS_PER_S:.2f} s lost of {recorder.sent} ticks"
    following = Process(tmp_path)
    assert following.folder.name == "episode_000001"
    following.end()
    assert data_file(recorder.folder).read_bytes() == before


def _notes(folder: Path) -> dict[str, dict[str, str]]:
    reader = BagReader(folder)
    for _ in reader.messages([]):
        pass
    return reader.notes
