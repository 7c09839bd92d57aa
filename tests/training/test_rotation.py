"""A second rotation of held-out pairs works from the data to the card and the evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from policy_server.model.checkpoint import load_checkpoint
from robot_client.twin.tasks import held_out
from training.run import Run
from training.start import train


def test_a_policy_of_rotation_one_says_so_and_is_tried_on_its_own_held_out_pairs(run: Run, tmp_path: Path) -> None:
    from training.evaluate import rollout
    from training.evaluate.command import evaluate_bundle
    from training.evaluate.wanted import Wanted

    other = run.model_copy(update={"rotation": 1, "name": "other"})
    checkpoint = train(other, tmp_path / "run", "test", lambda line: None, stop_at=2)
    told = load_checkpoint(checkpoint).card.provenance.data
    assert all(f"{task.object} / {task.receptacle}" in told for task in held_out(1))
    wanted = Wanted(rotation=1, per_pair=1, futures=("masked",), splits=("ood",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollout, "MOST_ROWS", 8)
        outcomes = evaluate_bundle(checkpoint, wanted, tmp_path / "out", lambda line: None)["masked"]
    assert {(one["object"], one["receptacle"]) for one in outcomes} == {(t.object, t.receptacle) for t in held_out(1)}
    assert {one["split"] for one in outcomes} == {"ood"}
    about = next((tmp_path / "out").rglob("about.toml")).read_text()
    assert "rotation = 1" in about and "use = []" in about
    with pytest.raises(ConfigurationError, match=r"red cube / box.*--rotation 1"):
        evaluate_bundle(checkpoint, Wanted(rotation=0), tmp_path / "out", lambda line: None)


def test_the_shipped_policy_is_of_rotation_zero() -> None:
    from policy_server.bundle import read_manifest
    from training.evaluate.rotation import require_rotation

    provenance = read_manifest(Path(__file__).resolve().parents[2] / "bundles/trained-gate").provenance
    require_rotation(provenance, 0)
    with pytest.raises(ConfigurationError, match="--rotation 0"):
        require_rotation(provenance, 1)
