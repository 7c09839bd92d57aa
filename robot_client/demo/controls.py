"""Keys of a person at the terminal of a run -> what the loop is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from robot_client.local_messages import PersonAct
from robot_client.teleop.keyboard import JOG_KEYS

_ACTS: Final[Mapping[str, tuple[PersonAct, str]]] = {
    "p": ("engage", ""),
    "t": ("teleop", "both"),
    "[": ("teleop", "left"),
    "]": ("teleop", "right"),
    "h": ("hold", ""),
    " ": ("hold", ""),
    "u": ("release", ""),
    "k": ("park", ""),
}
_END: Final = "q"
_STOPS: Final = ("h", _END)
_CLUTCH: Final = "x"


class Controls:
    """`ended` once a person wants the run to end. `tell` passes an act on and never waits."""

    def __init__(self, tell: Callable[[PersonAct, str], None], policy: bool, leader: bool) -> None:
        self._tell, self._policy, self._leader = tell, policy, leader
        self._clutch_open = False
        self.jog: Callable[[str], bool] | None = None
        """Takes the keys of a keyboard leader."""
        self.ended = False

    def press(self, key: str) -> bool:
        """One key; whether it means something. Stopping comes before everything else that has the same key, and is
        the same with Caps Lock on."""
        key = key.lower() if key.lower() in _STOPS else key
        if key == _END:
            self.ended = True
        elif key == _CLUTCH and self._leader:
            self._clutch_open = not self._clutch_open
            self._tell("clutch", "open" if self._clutch_open else "close")
        elif key in _ACTS:
            act, text = _ACTS[key]
            if act == "teleop":
                self._clutch_open = False
            self._tell(act, text)
        else:
            return self.jog is not None and self.jog(key)
        return True

    @property
    def help(self) -> str:
        """One or two lines of keys."""
        words = ["p policy"] if self._policy else []
        if self._leader:
            words += ["t teleop both arms, [ left, ] right", f"x clutch{' (open)' if self._clutch_open else ''}"]
        words += ["h or space hold", "u release", "k park", "q or Ctrl-C end"]
        text = "keys: " + " | ".join(words)
        if self.jog is not None:
            text += "\njog: " + ", ".join(f"{key} {what}" for key, what in JOG_KEYS.items())
        return text
