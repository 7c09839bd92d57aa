"""Video passes and flow steps as the graphs see them: anchored frame, noise levels, prefix, shared noise (B47)."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.layout import SIZE
from policy_server.engines.scripted_manifest import CHANNELS, scripted_manifest
from policy_server.engines.scripted_policy import Script
from policy_server.noise import Noise
from policy_server.policy import Policy
from tests.policy_server.pipeline import SMALL, Bench, ask, rows_like


class Recorder:
    """An engine that remembers what each graph was fed and gave."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.calls: dict[str, list[tuple[dict[str, NDArray], dict[str, NDArray]]]] = {g: [] for g in engine.graphs}

    def __getattr__(self, name: str):
        return getattr(self.engine, name)

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        seen = {name: np.array(array) for name, array in feeds.items()}
        outputs = self.engine.run(graph, feeds)
        self.calls[graph].append((seen, outputs))
        return outputs


def record(manifest=None, script: Script | None = None, **changes: object):
    """(chunk, calls by graph) of one replan."""
    one = Bench(manifest or scripted_manifest(SMALL), script or Script(influence=0.1, future_mass=0.5))
    recorder = Recorder(one.engine)
    chunk = Policy(one.manifest, recorder).replan(ask(one.manifest, **changes), lambda: 0)
    return chunk, recorder.calls


def with_video(manifest, **changes: object):
    return manifest.model_copy(update={"video": manifest.video.model_copy(update=changes)})


def test_the_current_frame_is_clean_with_its_own_time_in_every_pass():
    _, calls = record()
    latent = calls["encode"][0][1]["latent"]
    for feeds, _ in calls["video_step"] + calls["video_tap"]:
        assert np.array_equal(feeds["latents"][:, :, :1], np.repeat(latent, len(feeds["latents"]), axis=0))
        assert (feeds["timesteps"][:, 0] == np.float32(1e-4)).all()


def test_red_left_and_green_top_of_each_camera_arrive_at_the_model_input_by_role():
    """B17, B19: nothing between the wire and the encoder swaps colours, axes or cameras."""
    image = np.zeros((24, 32, 3), np.uint8)
    image[:, :16] = (255, 0, 0)
    image[0] = (0, 255, 0)
    others = {"right_wrist": np.full_like(image, 9), "top": np.full_like(image, 3)}
    _, calls = record(images={**others, "left_wrist": image})
    canvas = calls["encode"][0][0]["canvas"][0]
    assert (canvas[:, :32] == 3).all() and (canvas[:, 64:] == 9).all()
    assert np.array_equal(canvas[:, 32:64], image)


def test_passes_go_from_pure_noise_to_sigma_and_the_tap_is_at_sigma():
    _, calls = record(guidance="off")
    levels = [feeds["timesteps"][0, 1:] for feeds, _ in calls["video_step"] + calls["video_tap"]]
    np.testing.assert_allclose(levels, [[1.0, 1.0], [0.75, 0.75], [0.5, 0.5]])
    first = calls["video_step"][0][0]["latents"][0, :, 1:]
    assert np.array_equal(first, Noise(11).draw((CHANNELS, 2, 4, 4)))


def test_each_pass_is_one_euler_step_of_the_velocity():
    _, calls = record(guidance="off")
    (one, given), (two, _) = calls["video_step"]
    np.testing.assert_allclose(
        two["latents"][:, :, 1:], (one["latents"] - 0.25 * given["velocity"])[:, :, 1:], rtol=1e-6
    )


def test_no_passes_means_features_of_pure_noise():
    manifest = with_video(scripted_manifest(SMALL, calibrated=False), passes=0, sigma=1.0)
    _, calls = record(manifest)
    assert calls["video_step"] == [] and (calls["video_tap"][0][0]["timesteps"][:, 1:] == 1.0).all()


def test_all_branches_start_from_the_same_noise():
    _, calls = record()
    firsts = [feeds["latents"][0] for feeds, _ in calls["video_step"] if feeds["timesteps"][0, 1] == 1.0]
    assert len(firsts) == 2 and np.array_equal(*firsts)
    starts = [feeds["rows"] for feeds, _ in calls["action_step"] if feeds["times"][0, -1] == 1.0]
    assert [len(rows) for rows in starts] == [1, 3]
    assert all(np.array_equal(row, starts[0][0]) for rows in starts for row in rows)


def test_branches_differ_in_text_and_in_the_future_kept_and_in_nothing_else():
    _, calls = record()
    (full, _), (others, _) = calls["context"]
    assert full["future_keep"].tolist() == [1.0] and others["future_keep"].tolist() == [1.0, 0.0]
    assert not others["text"][0].any() and np.array_equal(others["text"][1], full["text"][0])
    assert np.array_equal(others["features"][1], full["features"][0])
    assert np.array_equal(others["state"], np.repeat(full["state"], 2, axis=0))


@pytest.mark.parametrize("given", [0, 1, 8])
def test_committed_rows_are_written_in_clean_at_time_zero_before_every_step(given):
    prefix = rows_like(np.zeros(SIZE), given)
    chunk, calls = record(prefix=prefix)
    for feeds, _ in calls["action_step"]:
        np.testing.assert_allclose(feeds["rows"][:, :given], np.broadcast_to(prefix, (len(feeds["rows"]), given, SIZE)))
        assert (feeds["times"][:, :given] == 0.0).all() and (feeds["times"][:, given:] > 0.0).all()
    assert chunk.rows.shape == (16 - given, SIZE)


def test_flow_times_are_data_and_fall_evenly():
    _, calls = record(scripted_manifest(SMALL, flow_steps=5), guidance="off")
    np.testing.assert_allclose([f["times"][0, -1] for f, _ in calls["action_step"]], [1.0, 0.8, 0.6, 0.4, 0.2])


def test_seed_image_state_prompt_and_prefix_each_change_the_chunk_and_the_same_question_is_bit_same():
    """B47: an export with sampling inside gave one chunk whatever the input."""
    one = Bench()
    asked = ask(one.manifest)
    other = {role: 255 - image for role, image in asked.images.items()}
    base = one.replan(asked)
    assert np.array_equal(base.rows, one.replan(asked).rows)
    for change in (
        {"seed": 12},
        {"images": other},
        {"joints": asked.joints + np.float32(0.1)},
        {"instruction": "put the red cube into the bin"},
    ):
        assert not np.array_equal(one.replan(**change).rows, base.rows), change


@pytest.mark.parametrize("horizon", [3, 16, 30])
@pytest.mark.parametrize("steps", [1, 4, 10])
def test_steps_and_horizon_are_numbers_of_the_manifest_and_nothing_is_frozen(steps, horizon):
    """B47: steps 1, 4 and 10 as the reference has them; horizons shorter and longer than the demo's."""
    manifest = scripted_manifest(SMALL, horizon=horizon, flow_steps=steps)
    one = Bench(manifest, Script(influence=0.2))
    prefix = rows_like(np.zeros(SIZE), horizon // 2)
    recorder = Recorder(one.engine)
    chunk = Policy(manifest, recorder).replan(ask(manifest, guidance="off", prefix=prefix), lambda: 0)
    memory = recorder.calls["context"][0][1]["memory"][0]
    noise = Noise(11)
    noise.draw((CHANNELS, 2, 4, 4))
    rows = noise.draw((horizon, SIZE)).astype(np.float64)
    for step in range(steps):
        rows[: len(prefix)] = prefix
        rows -= (rows - memory * (1 + 0.2 * np.tanh(rows))) / (1.0 - step / steps) / steps
    np.testing.assert_allclose(chunk.rows, rows[len(prefix) :], atol=1e-5)
    assert chunk.temporal_ratio.masses.shape == (steps, 2, 3, horizon, 2)


def test_noise_is_the_same_numbers_on_every_machine():
    """Replay is exact only if the seed means the same everywhere; these are Philox's."""
    noise = Noise(2**64 - 1)
    video, action = noise.draw((2, 1)), noise.draw((3,))
    np.testing.assert_allclose(
        [*video.ravel(), *action], [-0.62702674, -0.99979579, -1.37566710, 1.24976933, -0.26514029], rtol=1e-6
    )
    assert video.dtype == np.float32
