"""Which tests are run for which file; a run stops at the first that fails. The order is found out (`order`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_SAFETY: Final = "tests/robot_client/safety/"
_CLIENT: Final = "tests/robot_client/"
QUICK: Final[dict[str, tuple[str, ...]]] = {
    "robot_client/safety/veto.py": (_SAFETY + "test_veto.py",),
    "robot_client/safety/interval.py": (_SAFETY + "test_interval.py",),
    "robot_client/safety/limits.py": (_SAFETY + "test_limits.py",),
    "robot_client/row_grid.py": (_CLIENT + "test_row_grid.py",),
    "robot_client/chunk_entry.py": (_CLIENT + "test_chunk_entry.py",),
    "robot_client/modes.py": (_CLIENT + "test_modes.py",),
    "robot_client/chunk_buffer.py": (_CLIENT + "test_chunk_buffer.py",),
    "robot_client/safety/limiter.py": (
        _SAFETY + "test_limiter.py",
        _SAFETY + "test_limiter_with_guard.py",
        _SAFETY + "test_jerk.py",
    ),
    "robot_client/safety/segments.py": (_SAFETY + "test_segments.py",),
    "robot_client/safety/jerk.py": (_SAFETY + "test_jerk.py",),
    "robot_client/safety/stopping.py": (_SAFETY + "test_stopping.py",),
    "robot_client/safety/tool_speed.py": (_SAFETY + "test_tool_speed.py",),
    "robot_client/safety/kinematics.py": (_SAFETY + "test_kinematics.py",),
    "robot_client/safety/space.py": (_SAFETY + "test_space.py",),
    "robot_client/safety/present.py": (_SAFETY + "test_space.py", _SAFETY + "test_guard.py"),
    "robot_client/safety/reach.py": (_SAFETY + "test_reach.py",),
    "robot_client/safety/clearance.py": (_SAFETY + "test_clearance_by_hand.py", _SAFETY + "test_clearance.py"),
    "robot_client/safety/guard.py": (_SAFETY + "test_guard.py", _SAFETY + "test_reach.py"),
}
