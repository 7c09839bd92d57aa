"""B45: weights stored beside the ONNX file went missing or were mixed up."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from contract.errors import BundleError
from policy_server.bundle import load_bundle, read_manifest
from policy_server.bundle_writer import seal
from policy_server.engines.onnx_files import external_locations
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.torch_engine import TorchEngine
from policy_server.export.bundle import VIDEO_WEIGHTS, export_bundle
from policy_server.export.weights import save_graph
from policy_server.model.graphs import examples, graphs_of
from policy_server.model.policy import VideoActionModel
from tests.policy_server.model.nano import nano


@pytest.fixture(scope="module")
def exports(nano_bundle: Path) -> dict[str, onnx.ModelProto]:
    """Every graph with its weights inside, as torch exports it."""
    return {path.stem: onnx.load(str(path)) for path in nano_bundle.glob("*.onnx")}


@pytest.fixture(scope="module")
def original(
    exports: dict[str, onnx.ModelProto], nano_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The bundle exported as if 1 KB were already too big for one protobuf."""
    folder = tmp_path_factory.mktemp("bundles") / "original"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policy_server.export.bundle.to_onnx", lambda graph: copy.deepcopy(exports[graph.name]))
        export_bundle(nano_checkpoint, folder, inline_limit=1000)
    return folder


@pytest.fixture(scope="module")
def doubled(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model of equal sizes: its last layer is twice as large, so its velocity is, too."""
    folder = Path(shutil.copytree(original, tmp_path_factory.mktemp("bundles") / "doubled"))
    offset, length = last_layer(folder)
    numbers = np.fromfile(folder / VIDEO_WEIGHTS, np.float32, length // 4, offset=offset)
    with (folder / VIDEO_WEIGHTS).open("r+b") as stream:
        stream.seek(offset)
        stream.write((2 * numbers).tobytes())
    seal(folder, read_manifest(folder))
    return folder


def last_layer(folder: Path) -> tuple[int, int]:
    """Place and length in bytes of the output layer's weights."""
    graph = onnx.load(str(folder / "video_step.onnx"), load_external_data=False).graph
    products = {name for node in graph.node if node.op_type == "MatMul" for name in node.input}
    external = [tensor for tensor in graph.initializer if tensor.external_data and tensor.name in products]
    wanted = (32, 24)
    (tensor,) = [tensor for tensor in external if tuple(tensor.dims) == wanted]
    entry = {item.key: item.value for item in tensor.external_data}
    return int(entry["offset"]), int(entry["length"])


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "bundle"))


def inputs() -> dict[str, NDArray]:
    pool = {name: value.numpy() for name, value in examples(nano()).items()}
    return {name: pool[name] for name in ("latents", "timesteps", "text")}


def velocity_served_from(folder: Path) -> NDArray:
    return OnnxRuntimeEngine.load(load_bundle(folder), threads=1).run("video_step", inputs())["velocity"]


@pytest.fixture(scope="module")
def expected(nano_checkpoint: Path) -> NDArray:
    return TorchEngine.load(nano_checkpoint).run("video_step", inputs())["velocity"]


def test_weights_go_beside_every_graph_above_the_limit(bundle: Path) -> None:
    """B45: protobuf limit error after a long export."""
    for graph in ("context", "action_step", "encode", "decode", "text"):
        assert external_locations(bundle / f"{graph}.onnx") == {f"{graph}.weights"}
        assert (bundle / f"{graph}.weights").stat().st_size > 1000


def test_weights_stay_inside_below_the_limit(nano_bundle: Path) -> None:
    assert sorted(path.name for path in nano_bundle.glob("*.weights")) == [VIDEO_WEIGHTS]
    assert external_locations(nano_bundle / "context.onnx") == set()


def test_the_video_graphs_share_one_file_in_which_equal_weights_lie_once(bundle: Path) -> None:
    step, tap = bundle / "video_step.onnx", bundle / "video_tap.onnx"
    assert external_locations(step) == external_locations(tap) == {VIDEO_WEIGHTS}
    places = {}
    for path in (step, tap):
        tensors = onnx.load(str(path), load_external_data=False).graph.initializer
        external = [{e.key: e.value for e in tensor.external_data} for tensor in tensors if tensor.external_data]
        places[path] = {(int(e["offset"]), int(e["length"])) for e in external}
    assert places[tap] < places[step]
    ends = max(offset + length for offset, length in places[step])
    assert (bundle / VIDEO_WEIGHTS).stat().st_size == ends
    assert sum(length for _, length in places[step]) > 0.95 * ends


def test_a_moved_bundle_serves_from_any_working_directory(
    bundle: Path, expected: NDArray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B45: weights were found only from the current directory."""
    moved = bundle.rename(tmp_path / "moved here")
    monkeypatch.chdir("/")
    np.testing.assert_allclose(velocity_served_from(moved), expected, atol=1e-4)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_allclose(velocity_served_from(Path("moved here")), expected, atol=1e-4)


def test_a_read_only_bundle_serves(bundle: Path, expected: NDArray) -> None:
    for path in (*bundle.iterdir(), bundle):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        np.testing.assert_allclose(velocity_served_from(bundle), expected, atol=1e-4)
    finally:
        bundle.chmod(0o755)


def test_two_models_in_one_process_keep_their_own_weights(original: Path, doubled: Path, expected: NDArray) -> None:
    """B45: the second model was read with the first model's weights."""
    engines = [OnnxRuntimeEngine.load(load_bundle(folder), threads=1) for folder in (original, doubled)]
    first, second = (engine.run("video_step", inputs())["velocity"] for engine in engines)
    np.testing.assert_allclose(first, expected, atol=1e-4)
    np.testing.assert_allclose(second, 2 * expected, atol=2e-4)


def _swap(bundle: Path, other: Path) -> None:
    shutil.copy(other / VIDEO_WEIGHTS, bundle / VIDEO_WEIGHTS)
    assert (other / VIDEO_WEIGHTS).stat().st_size == (bundle / VIDEO_WEIGHTS).stat().st_size


SPOILED: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "missing": (lambda bundle, other: (bundle / VIDEO_WEIGHTS).unlink(), VIDEO_WEIGHTS),
    "truncated": (lambda bundle, other: os.truncate(bundle / VIDEO_WEIGHTS, 100), VIDEO_WEIGHTS),
    "another model's of equal size": (_swap, VIDEO_WEIGHTS),
    "renamed graph": (lambda bundle, other: (bundle / "video_tap.onnx").rename(bundle / "tap.onnx"), "video_tap.onnx"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_spoiled_files_are_named_before_anything_is_served(bundle: Path, doubled: Path, how: str) -> None:
    """B45: silently wrong weights, or "failed to open file" with an empty name."""
    spoil, name = SPOILED[how]
    spoil(bundle, doubled)
    with pytest.raises(BundleError, match=name):
        load_bundle(bundle)


@pytest.mark.parametrize("location", ["../video.weights", "/etc/hostname", "unlisted.weights"])
def test_a_location_outside_the_manifest_is_refused(bundle: Path, location: str) -> None:
    path = bundle / "video_step.onnx"
    model = onnx.load(str(path), load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = location
    path.write_bytes(model.SerializeToString())
    seal(bundle, read_manifest(bundle))
    with pytest.raises(BundleError, match=r"weights of .*video_step\.onnx"):
        OnnxRuntimeEngine.load(load_bundle(bundle), threads=1)


def test_an_export_replaces_a_bundle_but_no_other_folder(nano_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("years of work")
    with pytest.raises(BundleError, match="precious"):
        export_bundle(nano_checkpoint, tmp_path / "precious")
    assert (tmp_path / "precious" / "thesis.tex").is_file()


def test_nothing_is_left_half_written_when_an_export_fails(
    nano_checkpoint: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load_bundle(bundle).manifest

    def fail(*arguments: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("policy_server.export.bundle.write_graphs", fail)
    with pytest.raises(OSError, match="no space"):
        export_bundle(nano_checkpoint, bundle)
    assert load_bundle(bundle).manifest == before


def test_a_graph_keeps_its_constants_whichever_way_it_is_saved(
    nano_model: VideoActionModel, exports: dict[str, onnx.ModelProto], tmp_path: Path
) -> None:
    graph = graphs_of(nano_model)["context"]
    model = exports["context"]
    for name, limit in (("inside", 1 << 30), ("beside", 0)):
        save_graph(copy.deepcopy(model), tmp_path / f"{name}.onnx", limit)
    outputs = [
        onnxruntime.InferenceSession(str(tmp_path / f"{name}.onnx"), providers=["CPUExecutionProvider"]).run(
            None, {key: value.numpy() for key, value in graph.inputs.items()}
        )
        for name in ("inside", "beside")
    ]
    for inside, beside in zip(*outputs, strict=True):
        assert np.array_equal(inside, beside)
