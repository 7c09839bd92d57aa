"""Camera roles under the names that others give them."""

from __future__ import annotations

import re
from typing import Final

_TOP: Final = ("top", "head", "front", "exterior", "overhead", "base", "main")
_EXTRA: Final = re.compile(r"^(cam|camera)_|_(rgb|camera|cam|image|images|images_rgb)$")


def role_of(name: str) -> str:
    """Our role for a camera's name: `left_rgb`, `left-wrist-camera` and `cam_left` are left_wrist, `head` is top.

    A name that says nothing of the kind stays what it is.
    """
    plain = name.lower().replace("-", "_").replace(".", "_")
    for _ in range(3):
        plain = _EXTRA.sub("", plain)
    sides = [side for side in ("left", "right") if side in plain.split("_")]
    if len(sides) == 1 and "top" not in plain:
        return f"{sides[0]}_wrist"
    return "top" if plain in _TOP else plain or name
