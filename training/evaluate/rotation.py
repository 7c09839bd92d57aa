"""Whether a policy is evaluated with the pairs held out that were held out of its training."""

from __future__ import annotations

import re
from typing import Final

from contract.errors import ConfigurationError
from contract.manifest import Provenance
from robot_client.twin.tasks import held_out

_HELD_OUT: Final = re.compile(r"held out: ([^;]*)")
ROTATIONS: Final = range(4)


def pairs_text(rotation: int) -> str:
    """The held-out pairs as a policy's card names them."""
    return ", ".join(f"{task.object} / {task.receptacle}" for task in held_out(rotation))


def require_rotation(provenance: Provenance, rotation: int) -> None:
    """Raises `ConfigurationError` when the policy's card names other held-out pairs; its "OOD" would be seen ones.

    A card that names none (an untrained or somebody else's policy) passes.
    """
    found = _HELD_OUT.search(provenance.data)
    if found is None or found[1] == pairs_text(rotation):
        return
    right = [number for number in ROTATIONS if pairs_text(number) == found[1]]
    raise ConfigurationError(
        f"rotation {rotation}",
        expected=f"the pairs that training held out: {found[1]}",
        got=pairs_text(rotation),
        remedy=f"--rotation {right[0]}" if right else "train with held-out pairs",
    )
