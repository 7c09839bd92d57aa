"""Target: the compiler and the card that an engine is built for, as a person writes it: `rtx:sm120`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from contract.errors import ConfigurationError

Compiler: TypeAlias = Literal["tensorrt_rtx", "tensorrt"]

COMPILERS: Final[dict[str, Compiler]] = {"rtx": "tensorrt_rtx", "trt": "tensorrt"}
"""Short name on the command line -> import name of the library."""
CURRENT: Final = "current"
"""The card in this machine."""
RTX_CARDS: Final = ("sm75", "sm80", "sm86", "sm89", "sm120", "sm121")
"""What TensorRT-RTX builds for without a card (its `ComputeCapability`); the H100's sm90 is not among them."""


@dataclass(frozen=True, slots=True)
class Target:
    """`card` is a compute capability such as sm120, or `current`."""

    compiler: Compiler
    card: str

    def __str__(self) -> str:
        short = next(key for key, name in COMPILERS.items() if name == self.compiler)
        return f"{short}:{self.card}"

    @property
    def folder(self) -> str:
        """Name of the folder that its engines are kept in."""
        return str(self).replace(":", "-")


def parse_target(text: str) -> Target:
    """Target of `rtx:CARD` or `trt:current`. Raises `ConfigurationError` with what would have been right."""
    short, _, card = text.partition(":")
    if short not in COMPILERS or not card:
        raise ConfigurationError(
            "--target", expected="rtx:sm120, rtx:current, trt:current or ort", got=text, remedy="name one of those"
        )
    if short == "trt" and card != CURRENT:
        raise ConfigurationError(
            "--target", expected="trt:current", got=text, remedy="TensorRT builds on the card itself: build there"
        )
    if short == "rtx" and card not in (*RTX_CARDS, CURRENT):
        raise ConfigurationError(
            "--target",
            expected=f"rtx: with one of {', '.join((*RTX_CARDS, CURRENT))}",
            got=text,
            remedy="for data-centre cards use trt:current on the card itself",
        )
    return Target(COMPILERS[short], card)
