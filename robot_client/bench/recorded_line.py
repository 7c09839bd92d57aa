"""The real recorder process, fed in real time: three 640x480 cameras at 30 Hz and 200 ticks a second."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import SIZE
from contract.station import STATIONS, load_station
from contract.types import Observation
from robot_client import local_codec
from robot_client.bench.fed_cameras import CAMERA_HZ, HEIGHT, WIDTH, FedCameras
from robot_client.channel import Channel, channel_pair
from robot_client.clock import NS_PER_S
from robot_client.demo.children import Child, start_child
from robot_client.episodes.feed import FeedSender
from robot_client.local_messages import LoopStatus
from robot_client.payload.jpeg import scene
from robot_client.process_config import RecorderConfig, write_config
from robot_client.ticks import TickRecord, batch_of

LOOP_HZ: Final = 200
REPLAN_HZ: Final = 2.5
_BATCH: Final = 20
_START_S: Final = 60.0
_CAMERA: Final = (
    (r"^height = .*$", f"height = {HEIGHT}"),
    (r"^width = .*$", f"width = {WIDTH}"),
    (r"^rate_hz = .*$", f"rate_hz = {CAMERA_HZ}.0"),
    (r"^loop_hz = .*$", f"loop_hz = {LOOP_HZ}.0"),
)


def write_station(folder: Path) -> Path:
    """The twin's station with larger cameras and a faster loop."""
    text = (STATIONS / "twin.toml").read_text(encoding="utf-8")
    for pattern, line in _CAMERA:
        text = re.sub(pattern, line, text, flags=re.MULTILINE)
    path = folder / "bench.toml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Our ends of the recorder's channels, and the process."""

    loop: Channel
    supervisor: Channel
    child: Child


class RecordedLine:
    """Recorder and its inputs. `feed` for a while; the loop's end may be a real loop's instead of ours."""

    def __init__(self, folder: Path, station: Path) -> None:
        self._folder, self._station = folder, station
        self._scenes: list[NDArray[np.uint8]] = []
        self._cameras = FedCameras(folder, [camera.role for camera in load_station(str(station)).cameras])
        self._ticks = self._questions = 0
        self._feed = FeedSender(f"ipc://{folder}/recorder")
        self._ends: _Ends | None = None
        self.episode = Path()

    @property
    def loop_end(self) -> Channel:
        """The loop's end of the recorder's channel. Raises `RigError` before `start`."""
        return self._started().loop

    @property
    def pid(self) -> int:
        """Of the recorder."""
        return self._started().child.process.pid

    def start(self) -> None:
        """The recorder's file is open when it returns."""
        config = RecorderConfig(
            station=str(self._station),
            rig="sim",
            run_dir=str(self._folder),
            directory=str(self._folder / "episodes"),
            feed=f"ipc://{self._folder}/recorder",
        )
        write_config(self._folder / "recorder.json", config)
        self._scenes = [scene(HEIGHT, WIDTH, seed) for seed in range(3)]
        self._cameras.open()
        loop, loop_child = channel_pair()
        supervisor, supervisor_child = channel_pair()
        fds = (supervisor_child.fileno(), loop_child.fileno())
        ends = ["--supervisor-fd", str(fds[0]), "--loop-fd", str(fds[1])]
        args = ["robot_client.episodes", "--config", str(self._folder / "recorder.json"), *ends]
        self._ends = _Ends(loop, supervisor, start_child("recorder", args, self._folder, fds))
        loop_child.close()
        supervisor_child.close()
        self.episode = Path(self._ends.child.wait_for_line("RECORDING ", _START_S).removeprefix("RECORDING "))
        self._feed.open()

    def feed(self, seconds: float, questions: bool) -> None:
        """In real time, by absolute deadlines: frames, ticks, and observations when they are wanted."""
        jobs: list[tuple[Callable[[], None], int]] = [(self._batch, _BATCH * NS_PER_S // LOOP_HZ)]
        jobs += [(self._question, int(NS_PER_S / REPLAN_HZ))] if questions else []
        begun_ns = time.monotonic_ns()
        due_ns = [begun_ns] * len(jobs)
        self._cameras.pause()
        while time.monotonic_ns() < begun_ns + seconds * NS_PER_S:
            for number, (job, period_ns) in enumerate(jobs):
                if time.monotonic_ns() >= due_ns[number]:
                    due_ns[number] += period_ns
                    job()
            next_ns = min(self.tend(), *due_ns)
            time.sleep(max(0.0, (next_ns - time.monotonic_ns()) / NS_PER_S))

    def tend(self) -> int:
        """The cameras alone, for whoever runs a real loop; call it often. When the next frame is due."""
        while local_codec.receive(self._started().supervisor) is not None:
            pass  # statuses of the recorder, which nobody here needs
        return self._cameras.tend()

    def end(self) -> int:
        """Close the episode; the recorder's exit code."""
        now_ns = time.monotonic_ns()
        last = LoopStatus(now_ns, "HOLD", "hold", 1, "go", "end", -1, "", 0, True, {}, {}, True)
        local_codec.send(self.loop_end, last)
        self.close()
        child = self._started().child
        child.wait(_START_S)
        return child.process.poll() or 0

    def close(self) -> None:
        """Let go of everything; the recorder ends by itself then."""
        for end in () if self._ends is None else (self._ends.loop, self._ends.supervisor):
            end.close()
        self._feed.close()
        self._cameras.close()

    def kill(self) -> None:
        """For the end of the block, whatever happened in it."""
        self.close()
        if self._ends is not None:
            self._ends.child.end(5.0)

    def _started(self) -> _Ends:
        if self._ends is None:
            raise RigError("recorder of the bench", expected="one that was started", got="none")
        return self._ends

    def _batch(self) -> None:
        period_ns = NS_PER_S // LOOP_HZ
        start_ns = time.monotonic_ns() - _BATCH * period_ns
        records = [_tick(self._ticks + i, start_ns + i * period_ns) for i in range(_BATCH)]
        local_codec.send(self.loop_end, batch_of(records, self._ticks))
        self._ticks += _BATCH

    def _question(self) -> None:
        now_ns = time.monotonic_ns()
        images = {role: self._scenes[i] for i, role in enumerate(("top", "left_wrist", "right_wrist"))}
        pose = np.zeros(SIZE, np.float32)
        asked = Observation(
            session="bench", epoch=1, sequence=self._questions, stamp_ns=now_ns, joints=pose, joints_stamp_ns=now_ns,
            images=images, image_stamps_ns=dict.fromkeys(images, now_ns), instruction="go", seed=0, first_row=0,
            prefix=np.zeros((0, SIZE), np.float32), budget_ns=0,
        )  # fmt: skip
        self._feed.send(asked)
        self._questions += 1


@contextmanager
def recorded_line(folder: Path, station: Path) -> Iterator[RecordedLine]:
    """A running recorder, ended with the block."""
    line = RecordedLine(folder, station)
    try:
        line.start()
        yield line
    finally:
        line.kill()


def _tick(number: int, due_ns: int) -> TickRecord:
    pose: NDArray[np.float64] = np.full(SIZE, 0.3 + 0.1 * np.sin(number / 100.0))
    return TickRecord(
        deadline_ns=due_ns, stamp_ns=due_ns, lateness_ns=50_000, skipped=0, mode="POLICY", source="policy", epoch=1,
        asked=pose, told=pose, measured=pose, measured_stamp_ns=due_ns, row=number // 20, fraction=0.5,
        chunk_id=f"bench/1/{number // 80}", clips=np.zeros(SIZE, np.uint16),
    )  # fmt: skip
