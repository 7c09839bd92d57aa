"""Long imagination: chunks joined by their last frame, decoded, in between replans."""

from dataclasses import replace

import numpy as np
import pytest

from contract.errors import EngineError, FieldError, VocabularyError
from contract.types import ImagineRequest
from policy_server.engines.scripted import Fault
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.policy import Policy
from tests.policy_server.pipeline import SMALL, Bench, ask
from tests.policy_server.test_passes import Recorder


def imagine(chunks: int, **changes: object):
    one = Bench(scripted_manifest(SMALL))
    recorder = Recorder(one.engine)
    request = ImagineRequest(ask(one.manifest, **changes), chunks)
    return Policy(one.manifest, recorder).imagine(request), recorder.calls


@pytest.mark.parametrize("chunks", [1, 2, 10])
def test_every_chunk_adds_its_length_once_because_the_shared_frame_is_dropped(chunks):
    film, _ = imagine(chunks)
    assert film.frames.shape == (1 + 8 * chunks, 24, 96, 3) and film.frames.dtype == np.uint8
    assert film.frame_step_ns == 100_000_000


def test_the_last_frame_of_a_chunk_is_the_current_frame_of_the_next():
    film, calls = imagine(3)
    decoded = [given["frames"][0] for _, given in calls["decode"]]
    seen = [feeds["canvas"][0] for feeds, _ in calls["encode"]]
    assert len(decoded) == len(seen) == 3
    assert np.array_equal(seen[1], decoded[0][-1]) and np.array_equal(seen[2], decoded[1][-1])
    assert np.array_equal(film.frames, np.concatenate([decoded[0], decoded[1][1:], decoded[2][1:]]))


def test_imagination_goes_down_to_no_noise_and_each_chunk_has_its_own():
    _, calls = imagine(2)
    levels = [float(feeds["timesteps"][0, 1]) for feeds, _ in calls["video_step"]]
    assert levels == [1.0, 0.75, 0.5, 0.25] * 2
    first, second = (calls["video_step"][i][0]["latents"][0, :, 1:] for i in (0, 4))
    assert not np.array_equal(first, second)
    last, given = calls["video_step"][3]
    np.testing.assert_allclose(
        calls["decode"][0][0]["latent"][:, :, 1:], (last["latents"] - 0.25 * given["velocity"])[:, :, 1:], atol=1e-6
    )


def test_the_first_chunk_starts_from_the_noise_that_the_replan_of_that_seed_sees():
    one = Bench()
    recorder = Recorder(one.engine)
    policy = Policy(one.manifest, recorder)
    policy.replan(ask(one.manifest), lambda: 0)
    replanned = recorder.calls["video_step"][0][0]["latents"][0]
    recorder.calls["video_step"].clear()
    policy.imagine(ImagineRequest(ask(one.manifest), 1))
    assert np.array_equal(recorder.calls["video_step"][0][0]["latents"][0], replanned)


def test_replans_answered_in_between_change_neither_film_nor_answers():
    """Imagine is below replans in priority: a server answers them between two passes."""
    one = Bench()
    request = ImagineRequest(ask(one.manifest), 3)
    other = ask(one.manifest, seed=5, joints=np.zeros(14, np.float32))
    alone, chunk = one.policy.imagine(request), one.replan(other)
    during = []
    film = one.policy.imagine(request, lambda: during.append(one.replan(other)))
    assert len(during) == 12
    assert np.array_equal(film.frames, alone.frames)
    assert all(np.array_equal(answer.rows, chunk.rows) for answer in during)


def test_a_decoder_that_gives_one_frame_per_latent_frame_has_a_longer_step():
    one = Bench()
    decode = one.engine.script["decode"]
    sparse = replace(decode, function=lambda feeds: {"frames": decode.function(feeds)["frames"][:, ::4]})
    one.engine.script["decode"] = sparse
    film = one.policy.imagine(ImagineRequest(ask(one.manifest), 2))
    assert len(film.frames) == 5 and film.frame_step_ns == 400_000_000


@pytest.mark.parametrize("chunks", [0, -1, 11])
def test_a_number_of_chunks_out_of_range_is_refused_before_any_pass(chunks):
    with pytest.raises(FieldError, match="chunks"):
        imagine(chunks)


def test_more_frames_than_a_message_holds_are_refused_after_the_first_chunk(monkeypatch):
    """Ten chunks of a 240 x 960 canvas are 111 MB: computed to the end, refused by the codec, the server at FAULT."""
    monkeypatch.setattr("policy_server.imagine.MAX_ARRAY_BYTES", 20 * 24 * 96 * 3)
    film, calls = imagine(2)
    assert len(film.frames) == 17 and len(calls["decode"]) == 2
    one = Bench(scripted_manifest(SMALL))
    recorder = Recorder(one.engine)
    with pytest.raises(FieldError, match="at most 2"):
        Policy(one.manifest, recorder).imagine(ImagineRequest(ask(one.manifest), 3))
    assert len(recorder.calls["decode"]) == 1


def test_unknown_words_are_refused():
    with pytest.raises(VocabularyError, match="banana"):
        imagine(1, instruction="banana")


@pytest.mark.parametrize(("graph", "call"), [("encode", 1), ("video_step", 5)])
def test_what_is_not_finite_ends_the_imagination_with_its_stage(graph, call):
    """B23 at the imagine path."""
    one = Bench()
    one.engine.faults.add(Fault(graph, call, "nan"))
    with pytest.raises(EngineError, match=graph):
        one.policy.imagine(ImagineRequest(ask(one.manifest), 2))
