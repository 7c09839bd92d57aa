"""The Gymnasium environments are what Gymnasium expects, and the twin underneath is the same."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from contract.errors import ActionError, ConfigurationError
from robot_client.twin.tasks import Task, held_out
from training.environments import PUT_ON
from training.environments.put_on import PutOn


@pytest.fixture(scope="module")
def env() -> Iterator[PutOn]:
    made = gymnasium.make(PUT_ON, split="ood", rotation=1, render_mode="rgb_array").unwrapped
    assert isinstance(made, PutOn)
    yield made
    made.close()


def test_gymnasiums_own_checker_finds_nothing(env: PutOn) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A recommendation: targets are absolute, in the contract's units, as everywhere in this product.
        warnings.filterwarnings("ignore", message=".*For Box action spaces, we recommend.*")
        check_env(env, skip_close_check=True)


def test_the_split_of_a_rotation_decides_which_pairs_come(env: PutOn) -> None:
    env.reset(seed=0)
    pairs = set()
    for _ in range(12):
        _, info = env.reset()
        pairs.add(Task(info["object"], info["receptacle"]))
        assert info["layout_seed"] < 1_000_000
    assert pairs <= set(held_out(1)) and len(pairs) > 1


def test_an_action_is_a_row_of_absolute_targets(env: PutOn) -> None:
    observation, _ = env.reset(seed=3)
    goal = observation["joints"].copy()
    goal[0] += 0.05
    for _ in range(5):
        observation, reward, terminated, truncated, _ = env.step(goal)
    assert observation["joints"][0] == pytest.approx(goal[0], abs=0.01)
    assert (reward, terminated, truncated) == (0.0, False, False)
    with pytest.raises(ActionError):
        env.step(np.full(14, np.nan, np.float32))


def test_the_scripted_expert_gets_the_reward(env: PutOn) -> None:
    from training.expert.expert import Expert

    env.reset(seed=1)
    expert, total = Expert(env._twin), 0.0
    while (row := expert.next_row()) is not None and total == 0.0:
        _, reward, terminated, _, info = env.step(row.astype(np.float32))
        total += reward
    assert total == 1.0 and terminated and info["success"]


def test_pairs_that_are_not_in_the_split_are_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="red cube, bin"):
        PutOn(object="red cube", receptacle="bin", split="id", rotation=0)
    with pytest.raises(ConfigurationError, match="pair of split"):
        PutOn(object="cake")


def test_the_environment_is_found_by_its_module_name() -> None:
    code = "import gymnasium; print(gymnasium.make('training.environments:yam_vam/PutOn-v0').spec.max_episode_steps)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.strip() == "160"
