"""ONNX Runtime as an engine: what it runs on, threads, errors, and weights beside the graph (B45)."""

import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from contract.errors import BundleError, EngineError
from policy_server.bundle import load_bundle
from policy_server.bundle_writer import seal
from policy_server.engines.loading import load_engine
from policy_server.engines.onnx_files import external_locations
from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine
from policy_server.engines.scripted_manifest import scripted_manifest

SIZE = 600


def make_model(folder: Path, value: float, location: str = "text.weights") -> None:
    """A graph "text" that adds `value`, its weights in a file beside it."""
    weight = numpy_helper.from_array(np.full(SIZE, value, np.float32), "weight")
    graph = helper.make_graph(
        [helper.make_node("Add", ["tokens", "weight"], ["text"])],
        "text",
        [helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["B", SIZE])],
        [helper.make_tensor_value_info("text", TensorProto.FLOAT, ["B", SIZE])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save_model(
        model, str(folder / "text.onnx"), save_as_external_data=True, location="text.weights", size_threshold=1
    )
    if location != "text.weights":
        moved = onnx.load(str(folder / "text.onnx"), load_external_data=False)
        for entry in moved.graph.initializer[0].external_data:
            entry.value = location if entry.key == "location" else entry.value
        (folder / "text.onnx").write_bytes(moved.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    make_model(folder, 1.0)
    seal(folder, scripted_manifest())
    return folder


def answer(engine: OnnxRuntimeEngine) -> float:
    return float(engine.run("text", {"tokens": np.zeros((2, SIZE), np.float32)})["text"][1, -1])


def test_a_graph_runs_with_the_weights_beside_it_and_names_its_inputs_and_outputs(folder):
    engine = OnnxRuntimeEngine.load(load_bundle(folder), threads=1)
    assert answer(engine) == 1.0
    assert (engine.graphs, engine.inputs("text"), engine.outputs("text")) == (("text",), ("tokens",), ("text",))


def test_it_says_what_it_runs_on_and_with_which_weights(folder):
    bundle = load_bundle(folder)
    engine = OnnxRuntimeEngine.load(bundle, threads=1)
    assert "CPUExecutionProvider" in engine.runs_on and "1 thread" in engine.runs_on
    assert onnxruntime.__version__ in engine.runs_on
    assert engine.id.endswith(f"-cpu/fp32/{bundle.manifest.weights_hash[:12]}")


def test_a_provider_that_is_not_there_is_an_error_and_not_a_slower_device(folder):
    absent = "CUDAExecutionProvider"
    if absent in onnxruntime.get_available_providers():
        pytest.skip("this build of onnxruntime has CUDA")
    with pytest.raises(EngineError, match="CUDAExecutionProvider") as caught:
        OnnxRuntimeEngine.load(load_bundle(folder), provider=absent)
    assert "CPUExecutionProvider" in caught.value.expected


def test_a_moved_bundle_in_another_working_directory_finds_its_weights(folder, tmp_path, monkeypatch):
    """B45: weights found only from the current directory, or where they were exported."""
    shutil.move(folder, tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    bundle = load_bundle("moved")
    monkeypatch.chdir("/")
    assert answer(OnnxRuntimeEngine.load(bundle)) == 1.0


def test_two_bundles_in_one_process_keep_to_their_own_weights(folder, tmp_path):
    """B45: the second model was read with the first model's weights, for the file names were equal."""
    other = tmp_path / "other"
    other.mkdir()
    make_model(other, 2.0)
    seal(other, scripted_manifest())
    engines = [OnnxRuntimeEngine.load(load_bundle(path)) for path in (folder, other, folder)]
    assert [answer(engine) for engine in engines] == [1.0, 2.0, 1.0]


def test_a_read_only_bundle_runs(folder):
    """B45: read-only directory."""
    folder.chmod(0o555)
    try:
        assert answer(OnnxRuntimeEngine.load(load_bundle(folder))) == 1.0
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("location", ["../outside.weights", "unlisted.weights", "nested/../../outside.weights"])
def test_weights_outside_the_hashed_files_are_refused_by_name(folder, tmp_path, location):
    """B45: a location with "../", or a file that no hash covers, may hold any other model's numbers."""
    make_model(folder, 1.0, location)
    seal(folder, scripted_manifest())
    shutil.copy(folder / "text.weights", tmp_path / "outside.weights")
    shutil.copy(folder / "text.weights", folder / "unlisted.weights")
    with pytest.raises(BundleError, match=location.replace(".", r"\.")):
        OnnxRuntimeEngine.load(load_bundle(folder))


def test_weights_in_absolute_places_are_refused(folder, tmp_path):
    """B45: an absolute location works on the exporting machine only."""
    make_model(folder, 1.0, str(tmp_path / "bundle" / "text.weights"))
    seal(folder, scripted_manifest())
    with pytest.raises(BundleError, match=r"text\.weights"):
        OnnxRuntimeEngine.load(load_bundle(folder))


@pytest.mark.parametrize("content", [b"", b"no protobuf at all", b"\x0a\xff\xff\xff\x0f"])
def test_a_file_that_is_no_onnx_is_refused_in_one_line(folder, content):
    (folder / "text.onnx").write_bytes(content)
    seal(folder, scripted_manifest())
    with pytest.raises(BundleError, match=r"text\.onnx") as caught:
        OnnxRuntimeEngine.load(load_bundle(folder))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "feeds",
    [
        {"tokens": np.zeros((1, SIZE + 1), np.float32)},
        {"tokens": np.zeros((1, SIZE), np.float64)},
        {"words": np.zeros((1, SIZE), np.float32)},
        {},
    ],
    ids=["shape", "dtype", "name", "nothing"],
)
def test_wrong_inputs_are_an_engine_error_naming_the_graph(folder, feeds):
    engine = OnnxRuntimeEngine.load(load_bundle(folder))
    with pytest.raises(EngineError, match="graph text"):
        engine.run("text", feeds)
    assert answer(engine) == 1.0


def test_a_closed_engine_says_so(folder):
    engine = OnnxRuntimeEngine.load(load_bundle(folder))
    engine.close()
    with pytest.raises(EngineError, match="open engine"):
        answer(engine)


def test_an_unknown_engine_or_a_negative_thread_count_is_refused(folder):
    with pytest.raises(EngineError, match="onnxruntime"):
        load_engine("onxruntime", load_bundle(folder))
    with pytest.raises(EngineError, match="threads"):
        load_engine("onnxruntime", load_bundle(folder), threads=-1)


def test_weights_inside_an_if_branch_and_in_attributes_are_seen(tmp_path):
    """B45: external data may hide in the subgraph of a control node, or in a constant."""
    inner = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    inner.external_data.add(key="location", value="branch.weights")
    constant = TensorProto(name="c", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    constant.external_data.add(key="location", value="constant.weights")
    branch = helper.make_graph([helper.make_node("Identity", ["w"], ["o"])], "b", [], [], [inner])
    nodes = [
        helper.make_node("Constant", [], ["k"], value=constant),
        helper.make_node("If", ["c"], ["o"], then_branch=branch, else_branch=branch),
    ]
    path = tmp_path / "x.onnx"
    path.write_bytes(helper.make_model(helper.make_graph(nodes, "g", [], [])).SerializeToString())
    assert external_locations(path) == {"branch.weights", "constant.weights"}
