"""The text of `--inject` -> faults.

    TEXT  = FAULT {"," FAULT}
    FAULT = KIND ["=" ARGUMENT] ["@" TIME ["+" TIME]]     at which time after engagement, and for how long
    TIME  = number followed by ms or s

| fault | what happens |
|---|---|
| `drop=0.05` | each answer of the policy is lost with this probability |
| `delay=80ms±40` | each answer is later by 40 to 120 ms (`+-` will do) |
| `cut@5s+2s` | no connection to the server |
| `nan@5s` | the next answer has a NaN; `nan=joints@5s`: the next reading of the joints |
| `stale@5s` | the next question gets the answer before it once more |
| `swap@5s` | the next two answers change places |
| `reorder@5s` | the next answer comes after the one after it |
| `freeze=camera:left@3s` | the newest image of a camera stays the same; also `joints`, `server`, `planner` |
| `kill-server@8s`, `kill-planner@8s` | kill -9 |

Without a time a fault begins at engagement. `nan`, `stale`, `swap` and `reorder` happen once, the others last for good,
unless a length is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Final, get_args

from contract.errors import ConfigurationError
from robot_client.inject.fault import ONCE, Fault, Kind

EXAMPLE: Final = "drop=0.05,delay=80ms±40,freeze=camera:left@3s,nan@5s,kill-server@8s"
MOST_S: Final = 24 * 3600.0
_FAULT: Final = re.compile(r"^(?P<kind>[a-z-]+)(?:=(?P<argument>[^@]*))?(?:@(?P<at>[^+]+)(?:\+(?P<length>.+))?)?$")
_TIME: Final = re.compile(r"^(\d+(?:\.\d+)?)(ms|s)$")
_SPREAD: Final = re.compile(r"^(\d+(?:\.\d+)?)(ms|s)?$")
_UNIT_S: Final = {"ms": 1e-3, "s": 1.0}
_FROZEN: Final = ("joints", "server", "planner")


def parse(text: str) -> tuple[Fault, ...]:
    """Faults in the order given; none for an empty text. Raises `ConfigurationError` naming the part at fault."""
    return tuple(_fault(part.strip()) for part in text.split(",")) if text.strip() else ()


def with_roles(faults: Sequence[Fault], roles: Sequence[str]) -> tuple[Fault, ...]:
    """The same with whole camera roles: `left` stands for the one role that begins with it.

    Raises `ConfigurationError` when it fits none of `roles`, or more than one.
    """
    return tuple(_with_role(fault, roles) for fault in faults)


def _fault(part: str) -> Fault:
    match = _FAULT.match(part)
    kinds = get_args(Kind)
    if match is None or match["kind"] not in kinds:
        raise _refused(part, f"one of {', '.join(kinds)}")
    kind: Kind = match["kind"]  # type: ignore[assignment]
    target, value, spread = _ARGUMENTS.get(kind, _nothing)(part, match["argument"])
    at_s = 0.0 if match["at"] is None else _seconds(part, match["at"])
    once = 0.0 if kind in ONCE else math.inf
    length_s = once if match["length"] is None else _seconds(part, match["length"])
    return Fault(kind, target, at_s, length_s, value, spread, part)


def _drop(part: str, argument: str | None) -> tuple[str, float, float]:
    try:
        share = float(argument or "")
    except ValueError:
        share = math.nan
    if not 0.0 < share <= 1.0:
        raise _refused(part, "drop=P with a probability P above 0 and up to 1")
    return "", share, 0.0


def _delay(part: str, argument: str | None) -> tuple[str, float, float]:
    mean, _, spread = (argument or "").replace("+-", "±").partition("±")
    seconds = _seconds(part, mean)
    match = _SPREAD.match(spread or "0s")
    if match is None:
        raise _refused(part, "delay=80ms±40")
    unit = match[2] or ("ms" if mean.endswith("ms") else "s")
    either_way = float(match[1]) * _UNIT_S[unit]
    if either_way > seconds:
        raise _refused(part, f"a spread of at most {mean}: no answer comes before its time")
    return "", seconds, either_way


def _freeze(part: str, argument: str | None) -> tuple[str, float, float]:
    kind, _, role = (argument or "").partition(":")
    if (kind == "camera" and role) or argument in _FROZEN:
        return str(argument), 0.0, 0.0
    raise _refused(part, f"freeze=camera:ROLE or freeze= one of {', '.join(_FROZEN)}")


def _nan(part: str, argument: str | None) -> tuple[str, float, float]:
    if argument not in (None, "joints"):
        raise _refused(part, "nan@TIME or nan=joints@TIME")
    return argument or "", 0.0, 0.0


def _nothing(part: str, argument: str | None) -> tuple[str, float, float]:
    if argument is not None:
        raise _refused(part, f"{part.partition('=')[0]} without a value")
    return "", 0.0, 0.0


_ARGUMENTS: Final[dict[str, Callable[[str, str | None], tuple[str, float, float]]]] = {
    "drop": _drop,
    "delay": _delay,
    "freeze": _freeze,
    "nan": _nan,
}


def _seconds(part: str, text: str) -> float:
    match = _TIME.match(text.strip())
    seconds = float(match[1]) * _UNIT_S[match[2]] if match else math.inf
    if seconds > MOST_S:
        raise _refused(part, f"a time such as 80ms or 3s, up to {MOST_S:g} s")
    return seconds


def _with_role(fault: Fault, roles: Sequence[str]) -> Fault:
    if not fault.role:
        return fault
    fits = [fault.role] if fault.role in roles else [role for role in roles if role.startswith(fault.role)]
    if len(fits) != 1:
        raise _refused(fault.text, f"one of the station's cameras: {', '.join(roles)}")
    return Fault(fault.kind, f"camera:{fits[0]}", fault.at_s, fault.length_s, fault.value, fault.spread, fault.text)


def _refused(part: str, expected: str) -> ConfigurationError:
    return ConfigurationError(f"--inject {part!r}", expected=expected, got=repr(part), remedy=f"for example {EXAMPLE}")
