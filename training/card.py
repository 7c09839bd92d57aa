"""The card of a trained checkpoint: what was measured on the data, and how the weights came to be."""

from __future__ import annotations

from typing import Literal

from contract.manifest import Guidance, Null, Provenance
from policy_server.model.card import PolicyCard
from robot_client.twin.tasks import held_out
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
    hidden = ", ".join(f"{task.object} / {task.receptacle}" for task in held_out(run.rotation))
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
                f"scripted expert on the twin, {len(materials.library.demonstrations)} demonstrations, "
                f"sha256 {materials.library.digest()}; actions of seen pairs only, held out: {hidden}; "
                f"video of all pairs; run {run.digest()[:16]}, started from {run.start or 'new weights'}"
            ),
        ),
    )


def _nulls(run: Run) -> tuple[Null, ...]:
    nulls: list[Null] = []
    if run.action.null_language > 0:
        nulls.append("language")
    if run.action.null_future > 0 or run.action.joint_share < 1.0:
        nulls.append("future")
    return tuple(nulls)
