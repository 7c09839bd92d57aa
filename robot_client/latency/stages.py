"""The stages of the line, in its order, and which durations of an answer belong to which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STAGES: Final[Mapping[str, str]] = {
    "exposure": "light to the image's stamp; 0 where the stamp is the moment that the picture shows (twin)",
    "transport": "stamp to the image being readable by the planner, as a watcher of the mailboxes sees it",
    "wait": "readable image to the loop's question being put together",
    "build": "fitting the images, observation, check",
    "encode": "observation to frames",
    "link_out": "half of the link: round trip less the server's own time (the halves are an assumption)",
    "queue": "receipt by the server, decoding and waiting for the engine's turn",
    "preprocess": "text, canvas, normalisation, noise",
    "backbone": "latent of the current frame, video passes, tap",
    "head": "context and flow steps of the conditional branch, denormalisation",
    "temporal_ratio": "reading the attention masses",
    "guidance": "scales, and video, context and flow steps of the other branches",
    "policy": "all of the server's time but the queue, from a server that does not name its stages",
    "link_back": "the other half of the link, with the encoding of the answer",
    "decode": "answer out of the socket to checked chunk",
    "buffer": "chunk at the planner to the tick that first runs a row of it: channel, tick, committed rows",
    "safety": "limiting the target",
    "command": "giving the target to the rig",
    "motor": "command to the first joint reading after it that shows movement",
}
"""Stage -> from where to where. Every stage has a beginning and an end of its own; what lies between two stages belongs
to neither, which is why their sum can be checked against the whole."""

_SERVER: Final[Mapping[str, tuple[str, ...]]] = {
    "queue": ("queue",),
    "preprocess": ("text", "canvas", "prepare"),
    "backbone": ("encode", "video"),
    "head": ("context", "head", "finish"),
    "temporal_ratio": ("temporal_ratio",),
    "guidance": ("scales", "guided_video", "guided_context", "guided_head"),
}


def server_stages_ns(durations_ns: Mapping[str, int]) -> dict[str, int]:
    """Stage -> duration on the server, from the durations in an answer.

    Server time in none of its stages stays out, and shows where the sum of all stages is compared with the whole.
    """
    stages = {
        stage: sum(durations_ns.get(name, 0) for name in names)
        for stage, names in _SERVER.items()
        if any(name in durations_ns for name in names)
    }
    if set(stages) <= {"queue"}:
        stages["policy"] = served_ns(durations_ns) - stages.get("queue", 0)
    return stages


def served_ns(durations_ns: Mapping[str, int]) -> int:
    """From receipt by the server to the finished answer."""
    return durations_ns.get("served", durations_ns.get("total", 0))
