"""Bundles that are whole, and bundles that are not (B45)."""

import os
import shutil
from pathlib import Path

import pytest

from contract.errors import BundleError
from contract.manifest import BundleManifest, TrCalibration
from policy_server.bundle import load_bundle, weights_hash
from policy_server.bundle_writer import hash_files, seal, set_calibration, write_manifest
from policy_server.engines.scripted_manifest import scripted_manifest


def make_bundle(folder: Path, content: bytes = b"weights") -> BundleManifest:
    (folder / "nested").mkdir(parents=True)
    (folder / "a.onnx").write_bytes(b"graph" + content)
    (folder / "nested" / "a.weights").write_bytes(content)
    return seal(folder, scripted_manifest(calibrated=False))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_bundle(tmp_path / "bundle")
    return tmp_path / "bundle"


def one_line(folder: Path) -> str:
    with pytest.raises(BundleError) as caught:
        load_bundle(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_written_is_what_is_read(folder):
    manifest = load_bundle(folder).manifest
    assert set(manifest.files) == {"a.onnx", "nested/a.weights"}
    assert manifest == seal(folder, scripted_manifest(calibrated=False))


def test_a_missing_file_is_named(folder):
    """B45: weights found only where they were exported."""
    (folder / "nested" / "a.weights").unlink()
    assert "a.weights" in one_line(folder)


def test_a_renamed_file_is_named(folder):
    """B45: the graph refers to its weights by name."""
    (folder / "a.onnx").rename(folder / "b.onnx")
    assert "a.onnx" in one_line(folder)


def test_a_file_cut_short_is_named_with_its_size(folder):
    """B45: an interrupted copy."""
    path = folder / "a.onnx"
    path.write_bytes(path.read_bytes()[:-1])
    assert "a.onnx" in one_line(folder) and f"{path.stat().st_size} bytes" in one_line(folder)


def test_weights_of_another_model_of_equal_size_are_refused(folder, tmp_path):
    """B45: sizes agree, numbers do not, and nothing would fail."""
    make_bundle(tmp_path / "other", b"WEIGHTS")
    shutil.copy(tmp_path / "other" / "nested" / "a.weights", folder / "nested" / "a.weights")
    assert "a.weights" in one_line(folder) and "sha256" in one_line(folder)


@pytest.mark.parametrize("name", ["../other/a.onnx", "/etc/hostname", "nested/../a.onnx", "./a.onnx", "nested\\a"])
def test_a_name_that_leaves_the_folder_is_refused_before_it_is_read(folder, name):
    """B45: a location with "../"."""
    files = {**load_bundle(folder).manifest.files, name: "0" * 64}
    manifest = load_bundle(folder).manifest
    write_manifest(folder, manifest.model_copy(update={"files": files, "weights_hash": weights_hash(files)}))
    assert "plain path inside the bundle" in one_line(folder)


def test_a_bundle_loads_from_a_relative_path_and_survives_a_change_of_directory(folder, monkeypatch, tmp_path):
    """B45: weights found only from the current directory."""
    monkeypatch.chdir(folder.parent)
    bundle = load_bundle(folder.name)
    monkeypatch.chdir(tmp_path.parent)
    assert bundle.path("nested/a.weights").read_bytes() == b"weights"


def test_a_moved_bundle_loads(folder, tmp_path):
    """B45: moved directory."""
    shutil.move(folder, tmp_path / "elsewhere")
    assert load_bundle(tmp_path / "elsewhere").manifest.model_id == "scripted"


def test_loading_writes_nothing_so_a_read_only_folder_will_do(folder):
    """B45: read-only directory."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for path in (folder / "nested", folder):
        path.chmod(0o555)
    load_bundle(folder)
    for path in (folder, folder / "nested"):
        path.chmod(0o755)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_two_bundles_in_one_process_keep_to_their_own_files(folder, tmp_path):
    """B45: the second model read with the first model's weights."""
    make_bundle(tmp_path / "other", b"WEIGHTS")
    first, second = load_bundle(folder), load_bundle(tmp_path / "other")
    assert first.manifest.weights_hash != second.manifest.weights_hash
    assert first.path("nested/a.weights").read_bytes() == b"weights"
    assert second.path("nested/a.weights").read_bytes() == b"WEIGHTS"


def test_a_file_that_the_manifest_does_not_list_cannot_be_asked_for(folder):
    (folder / "extra.onnx").write_bytes(b"x")
    with pytest.raises(BundleError, match=r"extra\.onnx"):
        load_bundle(folder).path("extra.onnx")


def test_an_altered_table_of_files_does_not_keep_the_old_weights_hash(folder):
    text = (folder / "policy.toml").read_text()
    manifest = load_bundle(folder).manifest
    (folder / "policy.toml").write_text(text.replace(manifest.weights_hash, "0" * 64))
    assert "weights_hash" in one_line(folder)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("horizon = 16", "horizon = 16\nhorizons = 2", "head.horizons"),
        ("horizon = 16", 'horizon = "16"', "head.horizon"),
        ("format = 1", "format = 2", "format"),
        ("trained = false", "", "trained"),
        ("format = 1", "format = ", "policy.toml"),
    ],
    ids=["unknown key", "wrong type", "other format", "missing key", "no TOML"],
)
def test_a_manifest_at_fault_is_refused_naming_the_field(folder, old, new, named):
    path = folder / "policy.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert named in one_line(folder)


def test_state_statistics_of_deltas_are_refused(folder):
    """B24: statistics computed over something else than what they are used for."""
    path = folder / "policy.toml"
    path.write_text(path.read_text().replace('[state]\nkind = "absolute"', '[state]\nkind = "delta"'))
    assert "state.kind" in one_line(folder)


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_no_bundle_there_is_one_line(tmp_path, path):
    assert "policy.toml" in one_line(tmp_path / path)


def test_calibration_is_added_and_the_weights_stay_what_they_were(folder):
    before = load_bundle(folder).manifest
    calibration = TrCalibration(
        quantiles=(0.1, 0.2, 0.4), replans=20, sigma=0.5, horizon=16, engine_id="scripted/fp32", source="test"
    )
    set_calibration(folder, calibration)
    after = load_bundle(folder).manifest
    assert after.tr_calibration == calibration and after.weights_hash == before.weights_hash
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_calibration_of_another_sigma_is_refused_and_nothing_is_written(folder):
    before = (folder / "policy.toml").read_bytes()
    wrong = TrCalibration(quantiles=(0.1, 0.2), replans=2, sigma=0.9, horizon=16, engine_id="e", source="test")
    with pytest.raises(BundleError, match="calibrate again"):
        set_calibration(folder, wrong)
    assert (folder / "policy.toml").read_bytes() == before


def test_hidden_files_and_the_manifest_are_not_part_of_the_weights(folder):
    (folder / ".DS_Store").write_bytes(b"x")
    assert set(hash_files(folder)) == {"a.onnx", "nested/a.weights"}
    assert os.path.exists(folder / ".DS_Store")
