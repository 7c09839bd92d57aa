"""ReplanLoops: `LoopRunner` over a torch model; arrays in, arrays out, everything between on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from contract.manifest import BundleManifest
from contract.types import Branch
from policy_server.flow import FlowResult
from policy_server.model.head import ActionHead
from policy_server.model.loops.action_loop import ActionLoop
from policy_server.model.loops.board import MOST_BRANCHES, Board
from policy_server.model.loops.captured import Captured
from policy_server.model.loops.context_loop import VIDEO, ContextLoop
from policy_server.model.loops.device_errors import device_errors
from policy_server.model.loops.staging import Staging
from policy_server.model.loops.video_loop import Pass, VideoLoop
from policy_server.question import Question

EXTRAS: tuple[tuple[Branch, ...], ...] = (("nolang",), ("noplan",), ("nolang", "noplan"))
"""Every set of branches behind "full"."""


class ReplanLoops:
    """The three loops, each launched as one piece for every way it can be asked for."""

    def __init__(
        self,
        board: Board,
        manifest: BundleManifest,
        functions: tuple[Pass, Pass, Callable[..., Any], Callable[..., Any]],
        head: ActionHead,
        pool: Any = None,
    ) -> None:
        """`functions`: velocity and features of the backbone, context and action_step of the head."""
        velocity, features, context, step = functions
        passes, steps = manifest.video.passes, manifest.head.flow_steps
        self.board, self._head = board, head
        self._device = board.rows.device
        self._staging = Staging(self._device)
        self._places = [*(("video_step", k) for k in range(passes)), ("video_tap", None), ("context", None)]
        self._read_flags = len(self._places)
        self._places += [("action_step", k) for k in range(steps)]
        video = VideoLoop(board, manifest.video, velocity, features)
        read = ContextLoop(board, context, passes + 1)
        act = ActionLoop(board, step, head.step_inputs, steps, passes + 2)
        pieces: dict[tuple[object, ...], Callable[[], None]] = {
            **{("see", *key): lambda key=key: video.run(*key) for key in ((0, 1), (1, 1), (0, 2))},  # type: ignore[misc]
            ("read", "full"): lambda: read.run(("full",), 0),
            **{("read", *extras): lambda extras=extras: read.run(extras, 1) for extras in EXTRAS},  # type: ignore[misc]
            **{("act", count): lambda count=count: act.run(count) for count in range(1, 1 + MOST_BRANCHES)},  # type: ignore[misc]
        }
        self.pieces = {key: Captured(work, self._device, pool) for key, work in pieces.items()}

    def prepare(self) -> None:
        """Launch every piece once, which captures it on a card: nothing is left for the first replan."""
        with device_errors("the loops, while they are captured"):
            for piece in self.pieces.values():
                piece.launch()
            self._staging.download(self.board.finite)

    def begin(self, question: Question) -> None:
        """Send what all branches share; on a card the copies run beside the first passes."""
        given = np.zeros((len(question.action_noise), 1), bool)
        prefix = np.zeros_like(question.action_noise)
        given[: len(question.prefix)] = True
        prefix[: len(question.prefix)] = question.prefix
        with device_errors("copies to the device"):
            self._staging.begin()
            for target, array in (
                (self.board.latent, question.latent),
                (self.board.video_noise, question.video_noise),
                (self.board.state, question.state),
                (self.board.action_noise, question.action_noise),
                (self.board.prefix, prefix),
                (self.board.given, given),
            ):
                self._staging.upload(target, array)

    def see(self, texts: Mapping[Branch, NDArray]) -> None:
        """One batch of the video loop; nothing is waited for."""
        slots = sorted(VIDEO[branch] for branch in texts)
        with device_errors("video loop"):
            for branch, text in texts.items():
                self._staging.upload(self.board.texts[VIDEO[branch]], text[0])
            self._staging.arrived()
            self.pieces["see", slots[0], len(slots)].launch()

    def read(self, branches: Sequence[Branch]) -> NDArray | None:
        """The context of "full", or of branches behind it; only masses make the host wait."""
        with device_errors("context"):
            key: tuple[object, ...] = ("read", *branches)
            self.pieces[key].launch()
            if tuple(branches) != ("full",) or self._head.masses_from != "context":
                return None
            masses, finite = self._staging.download(self.board.context["masses"], self.board.finite)
        self._require_finite(finite[: self._read_flags])
        return masses[:1]

    def integrate(self, weights: Sequence[float]) -> FlowResult:
        """All flow steps of "full" and as many further branches as there are weights."""
        with device_errors("flow loop"):
            if weights:
                scales = np.zeros(MOST_BRANCHES - 1, np.float32)
                scales[: len(weights)] = weights
                self._staging.begin()
                self._staging.upload(self.board.weights, scales)
                self._staging.arrived()
            self.pieces["act", 1 + len(weights)].launch()
            board = self.board
            rows, masses, finite = self._staging.download(board.rows, board.masses, board.finite)
        self._require_finite(finite)
        return FlowResult(rows, masses)

    def _require_finite(self, finite: NDArray) -> None:
        if not finite.all():
            graph, step = self._places[int(np.argmin(finite))]
            raise EngineError(
                f"{graph}" if step is None else f"{graph}, step {step}",
                expected="finite values",
                got="NaN or infinity",
                remedy="no answer is given; check the observation, and the bundle's precision on this device",
            )
