"""`yam_vam/PutOn-v0`: put the OBJECT in or on the RECEPTACLE, both arms, three cameras, one row of 0.1 s a step."""

from __future__ import annotations

import string
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from contract.layout import SIZE
from robot_client.twin import gl
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, TASKS, Task, held_out, seen
from training.data.settings import TRAIN_SEEDS_FROM
from training.evaluate.suite import ROW_S

_OVER = np.float32(0.5)
"""Measured joints may be a little beyond their ranges [rad, opening]."""
Observation = dict[str, Any]
Split = Literal["id", "ood", "all"]


class PutOn(gymnasium.Env[Observation, NDArray[np.float32]]):
    """Observation: images by camera role, measured joints (14,), instruction. Action: absolute targets (14,).

    Actions are in the contract's layout [rad, gripper 0..1], followed in a straight line within 0.1 s; beyond the
    joints' ranges the arms stop there. Reward 1 when the task is done (object at rest in or on its receptacle,
    released), which ends the episode. Layout seeds are drawn from 0..999,999; those of demonstrations lie above.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": round(1 / ROW_S)}

    def __init__(
        self,
        object: str | None = None,
        receptacle: str | None = None,
        rotation: int = 0,
        split: Split = "all",
        image_size: int = 64,
        render_mode: str | None = None,
    ) -> None:
        """`object`, `receptacle`: ask for these, None = drawn.

        `split` of `rotation`: id = seen pairs, ood = held-out ones. `image_size`: pixels of the top view each way; the
        wrist views have half. Raises `ConfigurationError` when no pair is left or a name is unknown.
        """
        gl.choose()
        from robot_client.twin.cameras import DEFAULT_SIZES, OVERVIEW, Size
        from robot_client.twin.twin import make_twin

        self.render_mode = render_mode
        self._tasks = _tasks(object, receptacle, rotation, split)
        wrist = Size(image_size // 2, image_size // 2)
        sizes = {"top": Size(image_size, image_size), "left_wrist": wrist, "right_wrist": wrist}
        self._overview = OVERVIEW
        self._twin = make_twin({**sizes, OVERVIEW: DEFAULT_SIZES[OVERVIEW]})
        low, high = (limit.astype(np.float32) for limit in self._twin.world.limits)
        images = {role: spaces.Box(0, 255, (size.height, size.width, 3), np.uint8) for role, size in sizes.items()}
        letters = string.ascii_lowercase + " "
        self.observation_space = spaces.Dict(
            {
                "images": spaces.Dict(images),
                "joints": spaces.Box(low - _OVER, high + _OVER, (SIZE,), np.float32),
                "instruction": spaces.Text(max_length=80, charset=letters),
            }
        )
        self.action_space = spaces.Box(low, high, (SIZE,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new layout. `options`: layout_seed, to have a certain one."""
        super().reset(seed=seed)
        task = self._tasks[int(self.np_random.integers(len(self._tasks)))]
        drawn = int(self.np_random.integers(TRAIN_SEEDS_FROM))
        layout = self._twin.reset(int((options or {}).get("layout_seed", drawn)), task)
        return self._observation(), {**self._info(), "layout_seed": layout.seed}

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One row. Raises `ActionError` for what is not 14 finite numbers."""
        target = np.asarray(action, np.float64)
        verdict = self._twin.glide(self._twin.world.target, target, ROW_S)
        return self._observation(), float(verdict.success), verdict.success, False, self._info()

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """The station from outside, (360, 640, 3), when `render_mode` is "rgb_array"."""
        return self._twin.render(self._overview) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Free the OpenGL context."""
        self._twin.close()

    def _observation(self) -> Observation:
        return {
            "images": {role: frame.image for role, frame in self._twin.frames().items()},
            "joints": self._twin.joints().positions.astype(np.float32),
            "instruction": self._twin.layout.task.instruction,
        }

    def _info(self) -> dict[str, Any]:
        """For people and analysis; a policy gets none of it."""
        verdict, task = self._twin.verdict, self._twin.layout.task
        told = {"phase": verdict.phase.value, "success": verdict.success, "misplaced": self._twin.misplaced() or ""}
        return {**told, "object": task.object, "receptacle": task.receptacle}


def _tasks(object: str | None, receptacle: str | None, rotation: int, split: str) -> tuple[Task, ...]:
    if not 0 <= rotation <= 3 or split not in ("id", "ood", "all"):
        raise ConfigurationError(
            "rotation and split", expected="0..3; id, ood or all", got=f"{rotation}, {split}", remedy="see PutOn"
        )
    pairs = {"id": seen(rotation), "ood": held_out(rotation), "all": TASKS}[split]
    left = tuple(t for t in pairs if t.object == (object or t.object) and t.receptacle == (receptacle or t.receptacle))
    if not left:
        raise ConfigurationError(
            "object and receptacle",
            expected=f"a pair of split {split}, rotation {rotation}; {', '.join(OBJECTS)}; {', '.join(RECEPTACLES)}",
            got=f"{object}, {receptacle}",
        )
    return left
