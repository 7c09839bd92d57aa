"""The card of a trained checkpoint: what was measured on the data, and how the weights came to be."""

from __future__ import annotations

from typing import Literal

from contract.manifest import Guidance, Null, Provenance
from policy_server.model.card import PolicyCard
from robot_client.twin.tasks import held_out
from training.data.library import Library
from training.run import Run
from training.stages.materials import Materials

_IMAGINE_PASSES = 10


def card_of(
    run: Run,
    materials: Materials,
    command: str,
    trained: bool,
    feature_source: Literal["generated", "noised_true"] = "noised_true",
) -> PolicyCard:
    """`trained`: whether the head was; a backbone alone is no policy."""
    return PolicyCard(
        model_id=f"{run.size}-{run.name}"[:64],
        trained=trained,
        feature_source=feature_source if trained else "untrained",
        imagine_passes=_IMAGINE_PASSES,
        state=materials.state,
        action=materials.action,
        guidance=Guidance(trained_nulls=_nulls(run) if trained else ()),
        provenance=Provenance(
            command=command,
            seed=run.seed,
            data=(
                f"{_what(run, materials.library)}; run {run.digest()[:16]}, started from {run.start or 'new weights'}"
            ),
        ),
    )


def _what(run: Run, library: Library) -> str:
    """Where the data came from, and what of it gave actions."""
    count, digest = len(library.demonstrations), library.digest()
    hidden = ", ".join(f"{task.object} / {task.receptacle}" for task in held_out(run.rotation))
    imported = sum(bool(one.entry.instruction) for one in library.demonstrations)
    told = "scripted expert on the twin, " if not imported else f"recorded episodes ({imported}), "
    if any(one.task is not None for one in library.demonstrations):
        return (
            f"{told}{count} demonstrations, sha256 {digest}; actions of seen pairs only, held out: {hidden}; "
            "video of all pairs"
        )
    return f"{told}{count} demonstrations, sha256 {digest}; actions of all of them"


def _nulls(run: Run) -> tuple[Null, ...]:
    nulls: list[Null] = []
    if run.action.null_language > 0:
        nulls.append("language")
    if run.action.null_future > 0 or run.action.joint_share < 1.0:
        nulls.append("future")
    return tuple(nulls)
