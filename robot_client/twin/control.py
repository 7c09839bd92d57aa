"""What a supervisor can ask of the twin, as JSON in the control mailbox."""

from __future__ import annotations

import json
from dataclasses import dataclass

from contract.errors import RigError
from robot_client.mailbox_file import Letter


@dataclass(frozen=True, slots=True)
class Reset:
    """A new layout; an empty instruction leaves the choice to the seed."""

    seed: int
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Park:
    """Brake, then fold both arms outward."""


@dataclass(frozen=True, slots=True)
class Exit:
    """End the process, parking first if `park`."""

    park: bool = True


Request = Reset | Park | Exit


def pack_request(request: Request) -> bytes:
    """Bytes of a request."""
    if isinstance(request, Reset):
        return json.dumps({"kind": "reset", "seed": request.seed, "instruction": request.instruction}).encode()
    if isinstance(request, Exit):
        return json.dumps({"kind": "exit", "park": request.park}).encode()
    return json.dumps({"kind": "park"}).encode()


def unpack_request(letter: Letter) -> Request:
    """The request of a letter; `RigError` when it is none."""
    match json.loads(letter.payload):
        case {"kind": "reset", "seed": int(seed), "instruction": str(instruction)}:
            return Reset(seed, instruction)
        case {"kind": "exit", "park": bool(park)}:
            return Exit(park)
        case {"kind": "park"}:
            return Park()
        case other:
            raise RigError("request to the twin", expected="reset, park or exit", got=other)
