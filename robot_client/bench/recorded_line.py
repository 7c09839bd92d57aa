"""The real recorder process, fed in real time: three 640x480 cameras at 30 Hz and 200 ticks a second."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import SIZE
from contract.station import STATIONS, load_station
from contract.types import Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_S
from robot_client.demo.children import Child, start_child
from robot_client.episodes.feed import FeedSender
from robot_client.local_messages import LoopStatus
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.payload.jpeg import scene
from robot_client.process_config import RecorderConfig, write_config
from robot_client.ticks import TickRecord, batch_of
from robot_client.twin.topics import camera_topic, frame_bytes, pack_frame, path_of

HEIGHT: Final = 480
WIDTH: Final = 640
CAMERA_HZ: Final = 30
LOOP_HZ: Final = 200
REPLAN_HZ: Final = 2.5
_BATCH: Final = 20
_SCENES: Final = 6
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


class RecordedLine:
    """Recorder and its inputs. `feed` for a while; the loop's end may be a real loop's instead of ours."""

    def __init__(self, folder: Path, station: Path) -> None:
        self._folder, self._station = folder, station
        self._scenes = [scene(HEIGHT, WIDTH, seed) for seed in range(_SCENES)]
        self._packed = [pack_frame(image) for image in self._scenes]
        self._cameras: list[MailboxWriter] = []
        self._ticks = self._frames = self._questions = 0
        self._due: dict[Callable[[], None], int] = {}
        self.loop_end, self._loop_child = channel_pair()
        self.supervisor, self._supervisor_child = channel_pair()
        self._feed = FeedSender(f"ipc://{folder}/recorder")
        self.child: Child | None = None
        self.episode = Path()

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
        roles = [camera.role for camera in load_station(str(self._station)).cameras]
        topics = [path_of(self._folder, camera_topic(role)) for role in roles]
        self._cameras = [open_writer(path, frame_bytes(WIDTH, HEIGHT)) for path in topics]
        fds = (self._supervisor_child.fileno(), self._loop_child.fileno())
        ends = ["--supervisor-fd", str(fds[0]), "--loop-fd", str(fds[1])]
        args = ["robot_client.episodes", "--config", str(self._folder / "recorder.json"), *ends]
        self.child = start_child("recorder", args, self._folder, fds)
        self._loop_child.close()
        self._supervisor_child.close()
        self.episode = Path(self.child.wait_for_line("RECORDING ", _START_S).removeprefix("RECORDING "))
        self._feed.open()

    def feed(self, seconds: float, questions: bool) -> None:
        """In real time, by absolute deadlines: frames, ticks, and observations when they are wanted."""
        jobs: dict[Callable[[], None], float] = {self._frame: CAMERA_HZ, self._batch: LOOP_HZ / _BATCH}
        jobs |= {self._question: REPLAN_HZ} if questions else {}
        begun_ns = time.monotonic_ns()
        self._due = dict.fromkeys(jobs, begun_ns)
        while time.monotonic_ns() < begun_ns + seconds * NS_PER_S:
            self._do(jobs)
            time.sleep(max(0.0, (min(self._due.values()) - time.monotonic_ns()) / NS_PER_S))

    def tend(self) -> None:
        """The cameras alone, for whoever runs a real loop; call it often."""
        self._due.setdefault(self._frame, time.monotonic_ns())
        self._do({self._frame: CAMERA_HZ})

    def _do(self, jobs: Mapping[Callable[[], None], float]) -> None:
        for job, rate_hz in jobs.items():
            if time.monotonic_ns() >= self._due[job]:
                self._due[job] += int(NS_PER_S / rate_hz)
                job()
        while local_codec.receive(self.supervisor) is not None:
            pass  # statuses of the recorder, which nobody here needs

    def end(self) -> int:
        """Close the episode; the recorder's exit code."""
        now_ns = time.monotonic_ns()
        last = LoopStatus(now_ns, "HOLD", "hold", 1, "go", "end", -1, "", 0, True, {}, {}, True)
        local_codec.send(self.loop_end, last)
        self.close()
        if self.child is None:
            return 2
        self.child.wait(_START_S)
        return self.child.process.poll() or 0

    def close(self) -> None:
        """Let go of everything; the recorder ends by itself then."""
        for end in (self.loop_end, self.supervisor):
            end.close()
        self._feed.close()
        for camera in self._cameras:
            camera.close()
        self._cameras = []

    def _frame(self) -> None:
        now_ns = time.monotonic_ns()
        for offset, camera in enumerate(self._cameras):
            camera.put(self._packed[(self._frames + offset) % _SCENES], now_ns)
        self._frames += 1

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
        line.close()
        if line.child is not None:
            line.child.end(5.0)


def cpu_s(pid: int) -> float:
    """CPU time that a process has used, all its threads, user and system (proc(5), fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid: int | str = "self") -> float:
    """Largest resident size of a process so far (VmHWM)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _tick(number: int, due_ns: int) -> TickRecord:
    pose: NDArray[np.float64] = np.full(SIZE, 0.3 + 0.1 * np.sin(number / 100.0))
    return TickRecord(
        deadline_ns=due_ns, stamp_ns=due_ns, lateness_ns=50_000, skipped=0, mode="POLICY", source="policy", epoch=1,
        asked=pose, told=pose, measured=pose, measured_stamp_ns=due_ns, row=number // 20, fraction=0.5,
        chunk_id=f"bench/1/{number // 80}", clips=np.zeros(SIZE, np.uint16),
    )  # fmt: skip
