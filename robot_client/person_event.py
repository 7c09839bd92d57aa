"""What a person does, as the supervisor tells the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

PersonAct = Literal[
    "enable",
    "relax",
    "power_off",
    "engage",
    "replay",
    "teleop",
    "external",
    "clutch",
    "alive",
    "hold",
    "release",
    "home",
    "park",
    "instruction",
    "stop",
    "finish",
]
PERSON_ACTS: tuple[PersonAct, ...] = get_args(PersonAct)


@dataclass(frozen=True, slots=True)
class PersonEvent:
    """What a person did. `text` is the instruction for "instruction", a confirmation for "relax" and "power_off".

    enable: torque on, told seeded from measured. engage: hand the arms to the policy. replay: hand them to the episode.
    teleop: hand them, or with the text "left" or "right" one of them, to the leader. external: hand them to the
    external trajectory. clutch: "open" or "close" the leader's clutch. alive: a sign of life of the operator.
    hold, stop: brake and hold. release: HOLD to IDLE. home, park: move to that pose of the station. finish: end of the
    run; brake, hold, on the twin park, then exit. relax, power_off: on real arms only at rest, and only with the text
    "supported".
    """

    act: PersonAct
    text: str = ""
