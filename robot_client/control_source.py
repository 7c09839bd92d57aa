"""Who drives which arm, as one word that every tick carries: "policy", or "left=teleop,right=policy"."""

from __future__ import annotations

from collections.abc import Mapping

from contract.layout import ARMS, Arm


def joined(sources: Mapping[Arm, str]) -> str:
    """One word for both arms; just the source's name when it is the same for both."""
    names = [sources[arm] for arm in ARMS]
    return names[0] if len(set(names)) == 1 else ",".join(f"{arm}={sources[arm]}" for arm in ARMS)


def per_arm(source: str) -> dict[Arm, str]:
    """The inverse of `joined`."""
    parts = dict(part.split("=", 1) for part in source.split(",") if "=" in part)
    return {arm: parts.get(arm, source) for arm in ARMS}


def arms_bits(arms: tuple[Arm, ...] | frozenset[Arm]) -> int:
    """A set of arms as bits, in the order of `ARMS`: what a tick says of an intervention."""
    return sum(1 << i for i, arm in enumerate(ARMS) if arm in arms)


def arms_of_bits(bits: int) -> tuple[Arm, ...]:
    """The inverse of `arms_bits`."""
    return tuple(arm for i, arm in enumerate(ARMS) if bits & (1 << i))
