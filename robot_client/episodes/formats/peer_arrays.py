"""Arrays of one of the direct peer's folders: `NAME.npy`, or NAME in an .npz."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARM_SIZE, ARMS, JOINTS_PER_ARM
from robot_client.clock import NS_PER_MS
from robot_client.episodes.formats.entries import Kind
from robot_client.episodes.formats.joint_names import checked

_NAMES: Final = {
    "measured": (("{arm}-joint_pos", "{arm}-gripper_pos"),),
    "told": (("action-{arm}-joint", "action-{arm}-gripper"), ("action-{arm}-pos",)),
}
"""For each kind the ways in which an arm may be written: joints and gripper apart, or 7 values together."""


class PeerArrays:
    """Loads on demand; nothing that would have to be unpickled is loaded. Raises `EpisodeError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packed = sorted(folder.glob("*.npz"))

    def vectors(self, kind: Kind) -> NDArray[np.float64]:
        """(N, 14) in the contract's layout; N is that of the shortest part."""
        parts = [self._arm(arm, kind) for arm in ARMS]
        count = min(len(part) for part in parts)
        return checked(np.concatenate([part[:count] for part in parts], axis=1), f"{self._folder}: {kind}")

    def rows(self) -> int:
        """Rows of the measured arms."""
        return min(len(self._arm(arm, "measured")) for arm in ARMS)

    def stamps_ns(self, camera: str) -> NDArray[np.int64]:
        """(N,) capture stamps of a camera; they are stored in ms."""
        found = self._find(f"{camera}-timestamp")
        if found is None:
            raise EpisodeError(f"{self._folder}", expected=f"{camera}-timestamp", got="no such array")
        if np.any(np.diff(found.reshape(-1)) < 0):
            raise EpisodeError(f"{self._folder}: {camera}-timestamp", expected="rising stamps", got="falling ones")
        return np.rint(found.reshape(-1).astype(np.float64) * NS_PER_MS).astype(np.int64)

    def _arm(self, arm: str, kind: Kind) -> NDArray:
        ways = [[name.format(arm=arm) for name in way] for way in _NAMES[kind]]
        for way in ways:
            parts = [self._find(name) for name in way]
            if all(part is not None for part in parts):
                return self._joined(way, [part for part in parts if part is not None])
        wanted = " or ".join(" and ".join(way) for way in ways)
        raise EpisodeError(f"{self._folder}", expected=wanted, got=f"only {', '.join(self._there()) or 'no array'}")

    def _joined(self, names: list[str], parts: list[NDArray]) -> NDArray:
        widths = [JOINTS_PER_ARM, 1] if len(parts) == 2 else [ARM_SIZE]
        flat = [part.reshape(len(part), -1) for part in parts]
        if [part.shape[1] for part in flat] != widths:
            shapes = [part.shape for part in parts]
            raise EpisodeError(f"{self._folder}: {', '.join(names)}", expected=f"rows of {widths}", got=f"{shapes}")
        count = min(len(part) for part in flat)
        return np.concatenate([part[:count] for part in flat], axis=1)

    def _find(self, name: str) -> NDArray | None:
        file = self._folder / f"{name}.npy"
        try:
            if file.is_file():
                return np.asarray(np.load(file, allow_pickle=False))
            for packed in self._packed:
                with np.load(packed, allow_pickle=False) as arrays:
                    if name in arrays:
                        return np.asarray(arrays[name])
        except (OSError, ValueError, EOFError) as error:
            raise EpisodeError(f"{self._folder}: {name}", expected="an array", got=str(error)[:100]) from error
        return None

    def _there(self) -> list[str]:
        names = [path.stem for path in self._folder.glob("*.npy")]
        for packed in self._packed:
            with np.load(packed, allow_pickle=False) as arrays:
                names += list(arrays)
        return sorted(names)
