"""`offered_qos_profiles` of a topic in the form of metadata.yaml up to version 8: policies by number.

Since version 9 (Jazzy) rosbag2 writes them by name. A bag that says version 8 and has names is refused by `ros2 bag`,
and one with numbers that says nothing has unknown policies there. Source of the numbers: rmw/types.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

_NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    "history": {"system_default": 0, "keep_last": 1, "keep_all": 2, "unknown": 3},
    "reliability": {"system_default": 0, "reliable": 1, "best_effort": 2, "unknown": 3, "best_available": 4},
    "durability": {"system_default": 0, "transient_local": 1, "volatile": 2, "unknown": 3, "best_available": 4},
    "liveliness": {
        "system_default": 0,
        "automatic": 1,
        "manual_by_node": 2,
        "manual_by_topic": 3,
        "unknown": 4,
        "best_available": 5,
    },
}


def numbered(text: str) -> str:
    """The same profiles with numbers; empty for what is no list of profiles, which stands for the default."""
    try:
        profiles = yaml.safe_load(text) if text.strip() else []
    except yaml.YAMLError:
        return ""
    if not isinstance(profiles, list) or not all(isinstance(profile, dict) for profile in profiles):
        return ""
    if not any(isinstance(profile.get(policy), str) for profile in profiles for policy in _NUMBERS):
        return text if profiles else ""
    return yaml.safe_dump([_by_number(profile) for profile in profiles], sort_keys=False)


def _by_number(profile: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _NUMBERS[name].get(value, value) if name in _NUMBERS else value for name, value in profile.items()}
