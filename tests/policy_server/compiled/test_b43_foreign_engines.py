"""B43: engines of another GPU, compiler, precision or bundle, cut short or mixed up: one line, and nothing loaded."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from contract.errors import BundleError, EngineError, StackError
from policy_server.bundle import Bundle, load_bundle
from policy_server.bundle_writer import seal
from policy_server.compiled.branches import Branches
from policy_server.compiled.build import build_engines
from policy_server.compiled.cache import EngineCache
from policy_server.compiled.machine import Machine
from policy_server.compiled.record import RECORD, Acceptance, read_record, write_record
from policy_server.compiled.servable import require_accepted
from policy_server.engines.compiled_engine import CompiledEngine
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.stub_runtime import StubRuntime
from policy_server.policy import Policy
from policy_server.warm_up import neutral_observation
from tests.policy_server.compiled.fake_compiler import FakeCompiler

ROOT = Path(__file__).resolve().parents[3]
HERE = Machine("tensorrt_rtx", "1.7.1", "sm120", "NVIDIA GeForce RTX 5090", "13.0")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    shutil.copytree(ROOT / "bundles" / "trained-foresight", tmp_path / "bundle")
    return load_bundle(tmp_path / "bundle")


@pytest.fixture
def folder(bundle: Bundle, tmp_path: Path) -> Path:
    """Engines of the bundle for the machine HERE."""
    build_engines(
        bundle, FakeCompiler(), Branches(), tmp_path / "engines", EngineCache(tmp_path / "cache"), lambda line: None
    )
    return tmp_path / "engines"


def load(bundle: Bundle, folder: Path, machine: Machine = HERE) -> CompiledEngine:
    runtime = StubRuntime(machine, OnnxRuntimeEngine.load(bundle, 1))
    return CompiledEngine.load(runtime, bundle, folder, "tensorrt_rtx")


def refused(bundle: Bundle, folder: Path, machine: Machine = HERE) -> str:
    """The line that a person reads."""
    with pytest.raises((BundleError, EngineError)) as caught:
        load(bundle, folder, machine)
    return str(caught.value)


def test_engines_of_this_machine_answer(bundle: Bundle, folder: Path) -> None:
    engine = load(bundle, folder)
    chunk = Policy(bundle.manifest, engine).replan(neutral_observation(bundle.manifest), lambda: 0)
    assert chunk.engine_id == f"tensorrt_rtx-1.7.1-sm120/fp32/{bundle.manifest.weights_hash[:12]}"
    assert "RTX 5090" in engine.runs_on


@pytest.mark.parametrize(
    ("change", "expected", "got"),
    [
        ({"card": "sm89"}, "sm89", "sm120"),
        ({"card": ""}, "no NVIDIA card", "sm120"),
        ({"compiler_version": "1.8.0"}, "1.8.0", "1.7.1"),
        ({"compiler": "tensorrt"}, "tensorrt", "tensorrt_rtx"),
    ],
)
def test_another_machine_is_named_with_the_command_that_builds(
    bundle: Bundle, folder: Path, change: dict[str, str], expected: str, got: str
) -> None:
    line = refused(bundle, folder, replace(HERE, **change))
    assert f"expected {expected}" in line and f"got {got}" in line and "yam-policy build" in line


def test_an_engine_cut_short_is_not_loaded(bundle: Bundle, folder: Path) -> None:
    path = folder / "video_tap.engine"
    path.write_bytes(path.read_bytes()[:-3])
    assert "video_tap.engine" in refused(bundle, folder) and "cut short" in refused(bundle, folder)


def test_an_engine_altered_in_place_is_not_loaded(bundle: Bundle, folder: Path) -> None:
    path = folder / "video_tap.engine"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert "altered" in refused(bundle, folder)


def test_an_onnx_file_in_the_place_of_an_engine_is_called_one(bundle: Bundle, folder: Path) -> None:
    shutil.copyfile(bundle.path("decode.onnx"), folder / "decode.engine")
    assert "an ONNX file" in refused(bundle, folder)


@pytest.mark.parametrize("name", ["text.engine", RECORD])
def test_a_missing_file_is_named(bundle: Bundle, folder: Path, name: str) -> None:
    (folder / name).unlink()
    line = refused(bundle, folder)
    assert name in line and "yam-policy build" in line


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 2}', "\x00"])
def test_a_broken_record_is_refused(bundle: Bundle, folder: Path, text: str) -> None:
    (folder / RECORD).write_text(text)
    assert RECORD in refused(bundle, folder)


def test_a_bundle_exported_anew_does_not_run_on_old_engines(bundle: Bundle, folder: Path) -> None:
    """Stale weights: the graph changed after the engines were built, and the bundle itself is sound."""
    path = bundle.path("action_step.onnx")
    path.write_bytes(path.read_bytes() + b"\x12\x01x")  # protobuf: producer_name = "x"
    seal(bundle.folder, bundle.manifest)
    line = refused(load_bundle(bundle.folder), folder)
    assert "action_step" in line and "built from" in line


def test_weights_beside_a_graph_count_as_its_source(bundle: Bundle, folder: Path) -> None:
    path = bundle.path("video.weights")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    seal(bundle.folder, bundle.manifest)
    line = refused(load_bundle(bundle.folder), folder)
    assert "video_step" in line


def test_engines_of_another_precision_are_refused(bundle: Bundle, folder: Path) -> None:
    write_record(folder, read_record(folder, "").model_copy(update={"precision": "bf16"}))
    line = refused(bundle, folder)
    assert "expected fp32, got bf16" in line


def test_engines_that_were_never_verified_are_not_served(bundle: Bundle, folder: Path) -> None:
    with pytest.raises(BundleError, match=r"never verified.*yam-policy verify"):
        require_accepted(read_record(folder, ""), folder, bundle)


def test_engines_that_failed_their_examination_are_not_served(bundle: Bundle, folder: Path) -> None:
    failed = Acceptance(
        passed=False, reference="r", observations=25, worst_row=1.0, worst_tr=0.0, said="white: rows differ by 1 rad"
    )
    with pytest.raises(BundleError, match="white: rows differ"):
        require_accepted(read_record(folder, "").model_copy(update={"acceptance": failed}), folder, bundle)


def test_nothing_is_loaded_before_every_engine_is_checked(bundle: Bundle, folder: Path) -> None:
    (folder / "decode.engine").write_bytes(b"")  # the last one
    runtime = StubRuntime(HERE, OnnxRuntimeEngine.load(bundle, 1))
    loaded: list[str] = []
    runtime.load = lambda name, engine: loaded.append(name)  # type: ignore[method-assign, assignment, func-returns-value]
    with pytest.raises(StackError):
        CompiledEngine.load(runtime, bundle, folder, "tensorrt_rtx")
    assert loaded == []
