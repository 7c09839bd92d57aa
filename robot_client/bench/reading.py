"""How fast an episode is read, with camera frames as JPEG and as H.264, and what memory that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from robot_client.episodes.bench_codecs import record
from robot_client.episodes.folder import episodes_in
from robot_client.episodes.recover import cut

H264_S: Final = 12.0
_READ_S: Final = 300.0


def readings(folder: Path, episode: Path) -> dict[str, Any]:
    """Of the recorded `episode`, whose frames are JPEG, and of one with H.264 that is made in `folder` for this."""
    record(folder / "h264", "h264", H264_S)
    return {"jpeg": _reading(folder / "jpeg_third", episode), "h264": _reading(folder / "h264_third", _only(folder))}


def _only(folder: Path) -> Path:
    (episode,) = episodes_in(folder / "h264")
    return episode


def _reading(third: Path, episode: Path) -> dict[str, Any]:
    whole = _read(episode)
    cut(episode, third, 0.0, whole["episode_s"] / 3)
    grown_mb = _read(third)["grown_mb"]
    return {
        "per_cpu_s": _speeds(whole, "cpu_s"),
        "per_clock_s": _speeds(whole, "clock_s"),
        "episode_s": round(whole["episode_s"], 2),
        "messages": whole["messages"],
        "grown_mb": round(whole["grown_mb"], 1),
        "grown_mb_of_a_third": round(grown_mb, 1),
        "growth_mb": round(whole["grown_mb"] - grown_mb, 1),
    }


def _speeds(whole: dict[str, Any], spent: str) -> dict[str, float]:
    return {way: round(whole["episode_s"] / used_s, 1) for way, used_s in whole[spent].items()}


def _read(episode: Path) -> dict[str, Any]:
    """In a process of its own, whose memory nothing else has grown."""
    command = [sys.executable, "-m", "robot_client.bench.read_episode", str(episode)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_READ_S)
    return dict(json.loads(done.stdout))
