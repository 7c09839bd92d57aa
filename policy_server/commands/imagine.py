"""`yam-policy imagine`: what the policy expects to see next, as a film or a strip of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError, StackError, from_wire
from contract.layout import SIZE
from contract.messages import ErrorReply
from contract.server_info import CameraSpec, ServerInfo
from contract.types import ImaginedFrames, ImagineRequest, Observation, Skipped
from policy_server.commands.pictures import read_picture, synthetic_picture, write_film, write_strip
from policy_server.server.visitor import visit

_SESSION = "imagine"


@dataclass(frozen=True, slots=True)
class Wish:
    """What to imagine. `images` maps a camera role to a picture file; other cameras see a made-up picture."""

    instruction: str
    chunks: int
    images: Mapping[str, Path]
    seed: int

    def request(self, info: ServerInfo, session: str) -> ImagineRequest:
        """The question to a policy; the arms are at zero."""
        pictures = {camera.role: self._picture(camera) for camera in info.cameras}
        observation = Observation(
            session=session,
            epoch=0,
            sequence=0,
            stamp_ns=0,
            joints=np.zeros(SIZE, np.float32),
            joints_stamp_ns=0,
            images=pictures,
            image_stamps_ns=dict.fromkeys(pictures, 0),
            instruction=self.instruction,
            seed=self.seed,
            first_row=0,
            prefix=np.zeros((0, SIZE), np.float32),
            budget_ns=0,
        )
        return ImagineRequest(observation, self.chunks)

    def _picture(self, camera: CameraSpec) -> NDArray[np.uint8]:
        path = self.images.get(camera.role)
        if path is None:
            return synthetic_picture(camera.role, camera.height, camera.width, self.seed)
        return read_picture(path, camera.height, camera.width)


def imagine(
    bundle: Path | None, server: str | None, wish: Wish, out: Path, timeout_s: float, keys: Path | None = None
) -> str:
    """Imagine from a bundle or through a server and write `out` (.mp4, or .png for a strip); returns a line to say."""
    if server is not None and bundle is None:
        frames = _through_server(server, wish, timeout_s, keys)
    elif bundle is not None and server is None:
        frames = _from_bundle(bundle, wish)
    else:
        raise ConfigurationError(
            "who imagines", expected="either --bundle or --server", got="both or neither", remedy="give one of them"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    rate_hz = 1e9 / frames.frame_step_ns
    if out.suffix == ".png":
        write_strip(out, frames.frames)
    else:
        write_film(out, frames.frames, rate_hz)
    return f"{out}: {len(frames.frames)} frames, {len(frames.frames) / rate_hz:.1f} s at {rate_hz:g} Hz"


def _from_bundle(bundle: Path, wish: Wish) -> ImaginedFrames:
    from policy_server.policy import Policy

    policy = Policy.load(bundle)
    try:
        return policy.imagine(wish.request(policy.info("READY"), _SESSION))
    finally:
        policy.close()


def _through_server(address: str, wish: Wish, timeout_s: float, keys: Path | None) -> ImaginedFrames:
    with visit(address, timeout_s, keys) as guest:
        reply = guest.ask(wish.request(guest.info, guest.session), timeout_s)
    if isinstance(reply, ImaginedFrames):
        return reply
    if isinstance(reply, ErrorReply):
        raise from_wire(reply.code, reply.what, reply.expected, reply.got, reply.remedy)
    reason = reply.reason if isinstance(reply, Skipped) else type(reply).__name__
    raise StackError("imagination", expected="frames", got=reason, remedy="ask again")
