"""TensorRT-RTX really builds every graph of the shipped bundle, on a machine without a card."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("tensorrt_rtx_bindings", reason="tensorrt-rtx-cu13 has wheels for x86-64 Linux only")

from contract.errors import EngineError
from policy_server.bundle import load_bundle
from policy_server.compiled.branches import Branches
from policy_server.compiled.build import build_engines
from policy_server.compiled.cache import EngineCache
from policy_server.compiled.record import EngineRecord
from policy_server.compiled.target import parse_target
from policy_server.engines.tensorrt_compiler import TensorRtCompiler

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[EngineRecord, Path]:
    place = tmp_path_factory.mktemp("rtx")
    compiler = TensorRtCompiler(parse_target("rtx:sm120"))
    bundle = load_bundle(ROOT / "bundles" / "trained-foresight")
    cache = EngineCache(place / "cache")
    return build_engines(bundle, compiler, Branches(), place / "out", cache, lambda line: None), place / "out"


def test_every_graph_becomes_an_engine(built: tuple[EngineRecord, Path]) -> None:
    record, folder = built
    assert set(record.graphs) == {"encode", "text", "video_step", "video_tap", "context", "action_step", "decode"}
    for name, facts in record.graphs.items():
        size = (folder / f"{name}.engine").stat().st_size
        assert size == facts.size_bytes and 100_000 < size < 30_000_000, name


def test_bindings_have_the_names_types_and_free_axes_of_the_graphs(built: tuple[EngineRecord, Path]) -> None:
    record, _ = built
    step = record.graphs["video_step"]
    assert [(b.name, b.dtype, b.shape) for b in step.inputs] == [
        ("latents", "float32", (-1, 96, 2, 8, 12)),
        ("timesteps", "float32", (-1, 2)),
        ("text", "float32", (-1, 12, 64)),
    ]
    assert [(b.name, b.dtype, b.shape) for b in record.graphs["encode"].inputs] == [("canvas", "uint8", (1, 64, 96, 3))]
    assert [(b.name, b.dtype) for b in record.graphs["decode"].outputs] == [("frames", "uint8")]
    assert [b.dtype for b in record.graphs["text"].inputs] == ["int64"]
    for name in ("text", "video_step", "video_tap", "context", "action_step"):
        assert all(b.shape[0] == -1 for b in record.graphs[name].inputs), name


def test_a_file_that_is_no_graph_fails_with_the_library_s_words(tmp_path: Path) -> None:
    path = tmp_path / "video_step.onnx"
    path.write_bytes(b"no graph at all")
    with pytest.raises(EngineError, match=r"parse of video_step\.onnx"):
        TensorRtCompiler(parse_target("rtx:sm120")).compile(path, Branches(), lambda line: None)


def test_the_current_card_is_named_as_missing_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_server.engines.tensorrt_compiler.current_card", lambda: ("", ""))
    with pytest.raises(EngineError, match=r"rtx:sm120"):
        TensorRtCompiler(parse_target("rtx:current"))


def test_a_ctrl_c_in_the_middle_of_a_build_ends_it_and_nothing_is_kept(tmp_path: Path) -> None:
    """Ctrl-C raised in a callback was lost in the library's frames: the build went on, or failed with another error."""
    place = tmp_path / "out"

    def press(line: str) -> None:
        if "video_step: Building" in line:
            os.kill(os.getpid(), signal.SIGINT)

    bundle, compiler = load_bundle(ROOT / "bundles" / "trained-foresight"), TensorRtCompiler(parse_target("rtx:sm89"))
    with pytest.raises(KeyboardInterrupt):
        build_engines(bundle, compiler, Branches(), place, EngineCache(tmp_path), press)
    assert not place.exists()
    assert len(list(tmp_path.glob("*.engine"))) == 2, "encode and text were finished, video_step was not"
