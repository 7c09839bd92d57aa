"""Held-out pairs give no actions; statistics are those of the action data; broken data is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError
from contract.layout import GRIPPER_MASK
from robot_client.twin.tasks import TASKS, held_out, seen
from training.data.library import Library
from training.data.samples import Sampler
from training.data.settings import DataSettings, claim_folder
from training.data.shard import PHASES
from training.evaluate.suite import trials
from training.run import Run, read_run
from training.stages.materials import gather
from training.statistics import measure

from .conftest import LENGTH, WORKING, toy


@pytest.mark.parametrize("rotation", [0, 1])
def test_held_out_pairs_never_give_actions_but_do_give_video(drawn_data: Path, run: Run, rotation: int) -> None:
    materials = gather(run.model_copy(update={"rotation": rotation}), toy())
    demonstrations = materials.library.demonstrations
    hidden = set(held_out(rotation))
    for moments in (materials.acting, materials.acting_validation):
        assert hidden.isdisjoint(demonstrations[i].task for i in np.unique(moments.demonstration))
    filmed = {demonstrations[i].task for i in np.unique(materials.video.demonstration)}
    assert filmed == set(TASKS)


def test_asking_for_actions_of_a_held_out_pair_is_an_error(drawn_data: Path) -> None:
    library = Library([drawn_data])
    sampler = Sampler(library, toy(), seen(0))
    everything = library.moments(TASKS, working_only=False, validation=False)
    hidden = next(i for i, n in enumerate(everything.demonstration) if library.demonstrations[n].task in held_out(0))
    assert not sampler.acts(everything, np.array([hidden]))[0]
    with pytest.raises(ConfigurationError, match="seen pairs only"):
        sampler.rows(everything, np.array([hidden]))


def test_row_zero_is_the_row_due_at_the_moment_and_the_last_working_row_is_held(drawn_data: Path) -> None:
    library = Library([drawn_data])
    moments = library.moments(seen(0), working_only=True, validation=False)
    rows = Sampler(library, toy(), seen(0)).rows(moments, np.array([0, WORKING - 1])).numpy()
    number = moments.demonstration[0]
    expected = number + 0.01 * np.minimum(np.arange(16), WORKING - 1)
    np.testing.assert_allclose(rows[0, :, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(rows[1, :, 0], number + 0.01 * (WORKING - 1), rtol=1e-6)


def test_future_pictures_are_every_fourth_and_stop_at_the_end(drawn_data: Path) -> None:
    library = Library([drawn_data])
    moments = library.moments(TASKS, working_only=False, validation=False)
    canvases = Sampler(library, toy(), seen(0)).seen(moments, np.array([1]), future=True).canvases.numpy()
    one = library.demonstrations[moments.demonstration[1]]
    for frame, at in enumerate([1, 5, 9, LENGTH - 1, LENGTH - 1]):
        np.testing.assert_array_equal(canvases[0, frame], one.shard.frames[one.entry.start + at])


def test_statistics_are_those_of_the_action_data(drawn_data: Path) -> None:
    library = Library([drawn_data])
    moments = library.moments(seen(0), working_only=True, validation=False)
    state, action = measure(library, moments, 16)
    used = [library.demonstrations[i] for i in np.unique(moments.demonstration)]
    joints = np.concatenate([d.shard.joints[d.entry.start : d.entry.start + WORKING] for d in used]).astype(float)
    np.testing.assert_allclose(state.offset, joints.mean(0), atol=1e-5)
    np.testing.assert_allclose(state.scale, joints.std(0), atol=1e-5)
    assert action.kinds == tuple("absolute" if grips else "delta" for grips in GRIPPER_MASK)
    targets = np.array(
        [d.number + 0.01 * min(m + k, WORKING - 1) for d in used for m in range(WORKING) for k in range(16)]
    )
    absolute = next(entry for entry in action.statistics if entry.kind == "absolute")
    np.testing.assert_allclose(absolute.offset, targets.mean(), rtol=1e-5)


def test_an_empty_data_folder_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="yam-train demonstrations"):
        Library([tmp_path])


def test_no_seen_pair_among_those_kept_for_validation_is_said_so(drawn_data: Path) -> None:
    """With twenty episodes the only one kept was of a held-out pair, and the remedy was "make more"."""
    library = Library((drawn_data,))
    with pytest.raises(ConfigurationError, match=r"among each 20th, from the first.*more of seen pairs"):
        library.moments((), working_only=False, validation=True)
    with pytest.raises(ConfigurationError, match="asked pairs, got none"):
        library.moments((), working_only=False, validation=False)


def test_a_broken_shard_is_named(drawn_data: Path, tmp_path: Path) -> None:
    (tmp_path / "shard-0000").mkdir()
    with pytest.raises(ConfigurationError, match=r"shard-0000.*delete this shard"):
        Library([tmp_path])


def test_a_data_folder_of_other_settings_is_refused(tmp_path: Path) -> None:
    claim_folder(DataSettings(folder=tmp_path, episodes_per_pair=1))
    claim_folder(DataSettings(folder=tmp_path, episodes_per_pair=1))
    with pytest.raises(ConfigurationError, match="episodes_per_pair was 1, is 2"):
        claim_folder(DataSettings(folder=tmp_path, episodes_per_pair=2))


def test_layouts_of_evaluation_are_none_of_the_demonstrations() -> None:
    chosen = trials(0, 10, 0)
    assert max(t.seed for t in chosen) < DataSettings(folder=Path("x")).first_seed
    assert {t.task for t in chosen if t.split == "ood"} == set(held_out(0))
    with pytest.raises(ConfigurationError, match="where demonstrations begin"):
        trials(0, 10, 999_995)


@pytest.mark.parametrize("path", sorted(Path("training/configs").glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_configuration_is_valid(path: Path) -> None:
    if not path.stem.startswith("demonstrations"):
        assert read_run(path).name == path.stem


def test_an_unknown_key_in_a_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        'name = "x"\nstage = "video"\ndata = ["d"]\nspeed = 3\n[optimisation]\nsteps = 1\n'
    )
    with pytest.raises(ConfigurationError, match="speed"):
        read_run(tmp_path / "x.toml")


def test_phases_are_those_of_the_judge() -> None:
    from robot_client.twin import gl

    gl.choose()
    from robot_client.twin.judge import Phase

    assert tuple(phase.value for phase in Phase) == PHASES
