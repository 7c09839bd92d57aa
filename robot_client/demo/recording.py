"""The recorder of a run: started before loop and planner, ends by itself after them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.channel import Channel, channel_pair
from robot_client.demo.children import Child, start_child
from robot_client.demo.settings import RunSettings
from robot_client.process_config import RecorderConfig, write_config

START_S: Final = 30.0
"""Loading takes one second, and many on a busy machine."""
END_S: Final = 1.5
"""Wait for it to close the file; on a slow disk it goes on by itself, at most 20 s, and is never cut off."""


@dataclass(frozen=True, slots=True, eq=False)
class _Started:
    child: Child
    loop_end: Channel
    supervisor_end: Channel


class Recording:
    """`address` is for the planner, `loop_end` for the loop, `supervisor_end` has its statuses. Nothing runs before
    `start`."""

    def __init__(self, settings: RunSettings, directory: Path, run_dir: Path) -> None:
        self._settings, self._directory, self._run_dir = settings, directory, run_dir
        self.address = f"ipc://{run_dir}/recorder"
        self._running: _Started | None = None

    @property
    def loop_end(self) -> Channel:
        """Raises `RigError` before `start`, as `supervisor_end` does."""
        return self._started().loop_end

    @property
    def supervisor_end(self) -> Channel:
        """Where the recorder reports."""
        return self._started().supervisor_end

    def start(self, logs: Path) -> str:
        """The episode's folder, once its file is open. Raises `RigError` with the recorder's word when it is not."""
        path = self._run_dir / "recorder.json"
        write_config(path, self._config())
        loop_end, loop_child = channel_pair()
        supervisor_end, supervisor_child = channel_pair()
        fds = (supervisor_child.fileno(), loop_child.fileno())
        args = ["--config", str(path), "--supervisor-fd", str(fds[0]), "--loop-fd", str(fds[1])]
        child = start_child("recorder", ["robot_client.episodes", *args], logs, fds)
        self._running = _Started(child, loop_end, supervisor_end)
        loop_child.close()
        supervisor_child.close()
        return child.wait_for_line("RECORDING ", START_S).removeprefix("RECORDING ")

    def loop_started(self) -> None:
        """The loop has its end; ours would keep the recorder waiting for ever."""
        self.loop_end.close()

    def end(self, timeout_s: float = END_S) -> bool:
        """Whether it ended in time."""
        return self._running is None or self._running.child.wait(timeout_s)

    def _started(self) -> _Started:
        if self._running is None:
            raise RigError("recorder", expected="one that was started", got="none")
        return self._running

    def _config(self) -> RecorderConfig:
        settings = self._settings
        facts = {
            "instruction": settings.instruction,
            "rig": settings.rig,
            "guidance": settings.guidance,
            "seed": str(settings.seed),
            **({"inject": settings.inject} if settings.inject else {}),
            "server": settings.server,
            "bundle": "" if settings.bundle is None else settings.bundle.name,
            "manifest_sha256": _manifest_hash(settings.bundle),
            **settings.facts,
        }
        return RecorderConfig(
            station=settings.station,
            rig=settings.rig,
            run_dir=str(self._run_dir),
            frames_dir=str(self._run_dir) if settings.rig == "yam" else "",
            directory=str(self._directory.absolute()),
            feed=self.address,
            codec=settings.record_codec,
            facts=facts,
        )


def _manifest_hash(bundle: Path | None) -> str:
    """sha256 of policy.toml; empty when the server is somebody else's (its weights hash is in the server's info)."""
    return "" if bundle is None else hashlib.sha256((bundle / "policy.toml").read_bytes()).hexdigest()
