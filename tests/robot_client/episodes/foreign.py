"""Small episodes in the layouts of others, written here as their writers do: LeRobot v3 and v2.1, the direct peer."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from contract.layout import CHANNELS, GRIPPER_MASK

FPS = 30
FRAMES = 45
PEER_MS = 1_700_000_000_123.0
ROLES = ("top", "left_wrist", "right_wrist")
PEER_CAMERAS = {"top": "top", "left": "left_wrist", "right": "right_wrist"}


try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:  # the robot side alone has none; only the makers of datasets below need it
    pa = pq = None


def state_at(i: float) -> np.ndarray:
    """(14,) in our layout: each channel has its own value, and moves."""
    return np.where(GRIPPER_MASK, 0.2 + 0.01 * i, np.arange(14) * 0.1 + 0.002 * i)


def action_at(i: float) -> np.ndarray:
    return state_at(i + 0.5)


def shade(i: int) -> int:
    return 20 + 2 * i


def video(path: Path, count: int, codec: str = "libx264", fps: int = FPS, first: int = 0) -> None:
    """Frame i has the shade of `first` + i."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=fps)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = Fraction(1, fps)
        stream.options = {"preset": "12" if codec == "libsvtav1" else "ultrafast", "crf": "20"}
        for i in range(count):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), shade(first + i), np.uint8), format="rgb24")
            frame.pts = i
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def ours() -> list[str]:
    """The 14 names as LeRobot's YAM sets write them, joints counted from 0."""
    return [f"{n[:-1]}_{int(n[-1]) - 1}.pos" if n[-1].isdigit() else f"{n}.pos" for n in CHANNELS]


def wide(names: list[str], extra: int) -> tuple[list[str], list[int]]:
    """Those names shuffled among `extra` others; and for each place the channel there, -1 for an extra one."""
    order = np.random.default_rng(3).permutation(len(names) + extra)
    parts = ("x", "y", "z", *(f"r6_{k}" for k in range(6)))
    others = [f"{side}_ee_{part}" for side in ("left", "right") for part in parts]
    every = [*names, *others[:extra]]
    return [every[k] for k in order], [int(k) if k < len(names) else -1 for k in order]


def spread(values: np.ndarray, places: list[int]) -> list[float]:
    return [99.0 if k < 0 else float(values[k]) for k in places]


def features(names: list[str], fps: float, dtype: str = "video") -> dict:
    vector = {"dtype": "float32", "shape": [len(names)], "names": names}
    found: dict = {"observation.state": vector, "action": vector}
    for role in ROLES:
        found[f"observation.images.{role}"] = {"dtype": dtype, "shape": [48, 64, 3], "names": ["height", "width", "c"]}
    scalars = {"timestamp": "float32", "frame_index": "int64", "episode_index": "int64", "task_index": "int64"}
    return found | {name: {"dtype": kind, "shape": [1], "names": None} for name, kind in scalars.items()}


def table(number: int, count: int, fps: float, places: list[int], first: int = 0) -> pa.Table:
    numbers = np.arange(count)
    return pa.table(
        {
            "observation.state": [spread(state_at(first + i), places) for i in numbers],
            "action": [spread(action_at(first + i), places) for i in numbers],
            "timestamp": pa.array((numbers / fps).astype(np.float32)),
            "frame_index": numbers,
            "episode_index": np.full(count, number),
            "task_index": np.zeros(count, int),
        }
    )


def lerobot_v21(root: Path, fps: int = FPS, extra: int = 0) -> Path:
    """Two episodes, a file for each."""
    names, places = wide(ours(), extra)
    (root / "meta").mkdir(parents=True)
    info = {
        "codebase_version": "v2.1",
        "robot_type": "yam_bimanual",
        "fps": fps,
        "chunks_size": 1000,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": features(names, fps),
    }
    (root / "meta" / "info.json").write_text(json.dumps(info))
    (root / "meta" / "tasks.jsonl").write_text('{"task_index": 0, "task": "stack the cups"}\n')
    lines = []
    for number, count in enumerate((FRAMES, FRAMES - 10)):
        path = root / "data" / "chunk-000" / f"episode_{number:06d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table(number, count, fps, places), path)
        for role in ROLES:
            key = f"observation.images.{role}"
            video(root / "videos" / "chunk-000" / key / f"episode_{number:06d}.mp4", count, fps=fps)
        lines.append(json.dumps({"episode_index": number, "tasks": ["stack the cups"], "length": count}))
    (root / "meta" / "episodes.jsonl").write_text("\n".join(lines) + "\n")
    return root


def lerobot_v3(root: Path, fps: int = FPS, extra: int = 0) -> Path:
    """Two episodes in one data file and one video file of each camera, as LeRobot writes small sets."""
    names, places = wide(ours(), extra)
    (root / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    place = "chunk-{chunk_index:03d}/file-{file_index:03d}"
    info = {
        "codebase_version": "v3.0",
        "robot_type": "yam",
        "fps": fps,
        "data_path": f"data/{place}.parquet",
        "video_path": f"videos/{{video_key}}/{place}.mp4",
        "features": features(names, fps),
    }
    (root / "meta" / "info.json").write_text(json.dumps(info))
    pq.write_table(pa.table({"task_index": [0], "task": ["stack the cups"]}), root / "meta" / "tasks.parquet")
    counts, rows, start = (FRAMES, FRAMES - 10), [], 0
    parts = []
    for number, count in enumerate(counts):
        parts.append(table(number, count, fps, places, first=start))
        row = {"episode_index": number, "tasks": ["stack the cups"], "length": count}
        row |= {"data/chunk_index": 0, "data/file_index": 0}
        for role in ROLES:
            key = f"videos/observation.images.{role}"
            row |= {f"{key}/chunk_index": 0, f"{key}/file_index": 0}
            row |= {f"{key}/from_timestamp": start / fps, f"{key}/to_timestamp": (start + count) / fps}
        rows.append(row)
        start += count
    pq.write_table(pa.Table.from_pylist(rows), root / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    (root / "data" / "chunk-000").mkdir(parents=True)
    pq.write_table(pa.concat_tables(parts), root / "data" / "chunk-000" / "file-000.parquet")
    for role in ROLES:
        video(root / "videos" / f"observation.images.{role}" / "chunk-000" / "file-000.mp4", start, fps=fps)
    return root


def peer(folder: Path, rows: int = FRAMES, packed: bool = False, joined: bool = False, codec: str = "libx264") -> Path:
    """One of the direct peer's episodes; `packed`: arrays in an .npz; `joined`: older, actions of 7 values an arm."""
    folder.mkdir(parents=True)
    states, actions = (np.array([value(i) for i in range(rows)]) for value in (state_at, action_at))
    arrays: dict[str, np.ndarray] = {}
    for arm, start in (("left", 0), ("right", 7)):
        arrays[f"{arm}-joint_pos"] = states[:, start : start + 6]
        arrays[f"{arm}-gripper_pos"] = states[:, start + 6 : start + 7]
        if joined:
            arrays[f"action-{arm}-pos"] = actions[:, start : start + 7]
        else:
            arrays[f"action-{arm}-joint"] = actions[:, start : start + 6]
            arrays[f"action-{arm}-gripper"] = actions[:, start + 6 : start + 7]
    for camera in PEER_CAMERAS:
        arrays[f"{camera}-timestamp"] = PEER_MS + np.arange(FRAMES) * 1000.0 / FPS
        video(folder / f"{camera}-images-rgb.mp4", FRAMES, codec)
    if packed:
        np.savez(folder / "arrays.npz", **arrays)
    else:
        for name, values in arrays.items():
            np.save(folder / f"{name}.npy", values)
    meta = {"schema_version": 1, "task_name": "fold it", "arm_names": ["left", "right"], "num_arm_joints": 6}
    cameras = [{"name": name, "role": name, "image_keys": ["rgb"]} for name in PEER_CAMERAS]
    (folder / "metadata.json").write_text(json.dumps({**meta, "control_hz": FPS, "cameras": cameras}))
    (folder / "write_complete.flag").touch()
    return folder
