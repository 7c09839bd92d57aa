"""Arguments of the launch files here: typed, with a description, refused with what was expected and what came."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument

TRUE, FALSE = "true", "false"


@dataclass(frozen=True)
class Argument:
    """One launch argument. kind: a key of `KINDS`."""

    name: str
    default: str | None
    description: str
    kind: str = "text"
    choices: tuple[str, ...] = ()

    def declare(self) -> DeclareLaunchArgument:
        """For `ros2 launch -s` and for launch's own check of choices."""
        choices = (TRUE, FALSE) if self.kind == "bool" else self.choices
        kind = f" [{self.kind}]" if self.kind != "text" else ""
        return DeclareLaunchArgument(
            self.name, default_value=self.default, description=self.description + kind, choices=list(choices) or None
        )

    def value(self, text: str) -> Any:
        """The typed value. Raises `ValueError` naming the argument, what was expected and what came."""
        try:
            return KINDS[self.kind](text)
        except ValueError as error:
            raise ValueError(f"argument {self.name}:={text}: {error}") from None


def _boolean(text: str) -> bool:
    if text not in (TRUE, FALSE):
        raise ValueError("expected true or false")
    return text == TRUE


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.0 <= value <= 86400.0:
        raise ValueError("expected 0 to 86400 seconds")
    return value


def _existing(text: str) -> str:
    if text and not Path(text).exists():
        raise ValueError("expected something that exists")
    return str(Path(text).absolute()) if text else ""


def _folder(text: str) -> str:
    if text and Path(text).exists() and not Path(text).is_dir():
        raise ValueError("expected a folder")
    return str(Path(text).absolute()) if text else ""


def _address(text: str) -> str:
    host, mark, port = text.removeprefix("tcp://").rpartition(":")
    if text and not (text.startswith("tcp://") and host and mark and port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError("expected tcp://HOST:PORT")
    return text


def _name(text: str) -> str:
    if text and not all(part.isidentifier() for part in text.strip("/").split("/")):
        raise ValueError("expected letters, digits and _, parts divided by /")
    return text.strip("/")


def _station(text: str) -> str:
    if not text.endswith(".toml"):
        return _name(text)
    return _existing(text)


def _bundle(text: str) -> str:
    if text and not (Path(text) / "policy.toml").is_file():
        raise ValueError("expected a folder with policy.toml")
    return str(Path(text).absolute()) if text else ""


KINDS = {
    "text": str,
    "bool": _boolean,
    "int": int,
    "float": float,
    "seconds": _seconds,
    "file": _existing,
    "folder": _folder,
    "address": _address,
    "name": _name,
    "station": _station,
    "bundle": _bundle,
}

STATION = Argument("station", "twin", "name of a shipped station or path of a station file", "station")
NAMESPACE = Argument("namespace", "", "namespace of all nodes, for two stations on one network", "name")
INSTRUCTION = Argument("instruction", "", "what the policy is told")
RECORD = Argument("record", "", "folder of episodes: the node recorder makes the next one; empty: none", "folder")
GUIDANCE = Argument(
    "guidance", "adaptive", "how the guidance scales are set", choices=("off", "constant", "adaptive", "inverted")
)
TRANSFORMS = Argument(
    "transforms", TRUE, "start robot_state_publisher, where it is installed: TF of arms and cameras", "bool"
)
SECONDS = Argument("seconds", "0", "end by itself after so long; 0: until Ctrl-C", "seconds")
SERVER = Argument("server", "", "address of a running policy server", "address")
KEYS = Argument("keys", "", "folder of CURVE keys made by `yam-policy keys`", "file")
