"""Building: what is cached, what a Ctrl-C leaves, what a person is told about a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import BundleError, ConfigurationError
from policy_server.bundle import Bundle, load_bundle
from policy_server.compiled.branches import Branches
from policy_server.compiled.build import build_engines
from policy_server.compiled.cache import EngineCache
from policy_server.compiled.record import RECORD, read_record
from policy_server.compiled.target import parse_target
from tests.policy_server.compiled.fake_compiler import FakeCompiler

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return load_bundle(ROOT / "bundles" / "trained-foresight")


def build(bundle: Bundle, compiler: FakeCompiler, place: Path, branches: Branches | None = None) -> list[str]:
    """Build into `place`/out with `place`/cache; what was said."""
    said: list[str] = []
    cache = EngineCache(place / "cache")
    build_engines(bundle, compiler, branches or Branches(), place / "out", cache, said.append)
    return said


def test_a_second_build_compiles_nothing(bundle: Bundle, tmp_path: Path) -> None:
    build(bundle, FakeCompiler(), tmp_path)
    again = FakeCompiler()
    said = build(bundle, again, tmp_path)
    assert again.compiled == []
    assert sum("from the cache" in line for line in said) == 7


@pytest.mark.parametrize("other", [{"version": "1.7.2"}, {"card": "sm89"}])
def test_another_compiler_or_card_compiles_everything(bundle: Bundle, tmp_path: Path, other: dict[str, str]) -> None:
    build(bundle, FakeCompiler(), tmp_path)
    again = FakeCompiler(**other)  # type: ignore[arg-type]
    build(bundle, again, tmp_path)
    assert len(again.compiled) == 7


def test_another_number_of_branches_compiles_everything(bundle: Bundle, tmp_path: Path) -> None:
    build(bundle, FakeCompiler(), tmp_path)
    again = FakeCompiler()
    build(bundle, again, tmp_path, Branches(usual=1, most=1))
    assert len(again.compiled) == 7


def test_a_damaged_cache_entry_is_compiled_again(bundle: Bundle, tmp_path: Path) -> None:
    build(bundle, FakeCompiler(), tmp_path)
    damaged = sorted((tmp_path / "cache").glob("*.engine"))[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    again = FakeCompiler()
    build(bundle, again, tmp_path)
    assert len(again.compiled) == 1


def test_a_ctrl_c_leaves_the_engines_of_before_and_loses_no_finished_graph(bundle: Bundle, tmp_path: Path) -> None:
    build(bundle, FakeCompiler(card="sm89"), tmp_path)
    stopped = FakeCompiler(stop_at="context")
    with pytest.raises(KeyboardInterrupt):
        build(bundle, stopped, tmp_path)
    assert read_record(tmp_path / "out", "").card == "sm89"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "out"]
    resumed = FakeCompiler()
    build(bundle, resumed, tmp_path)
    assert resumed.compiled == ["context", "action_step", "decode"]
    assert read_record(tmp_path / "out", "").card == "sm120"


def test_a_folder_of_something_else_is_not_replaced(bundle: Bundle, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(BundleError, match="something else"):
        build(bundle, FakeCompiler(), tmp_path)
    assert (tmp_path / "out" / "thesis.tex").is_file()


def test_the_record_says_what_was_built_from_what(bundle: Bundle, tmp_path: Path) -> None:
    build(bundle, FakeCompiler(), tmp_path)
    record = read_record(tmp_path / "out", "")
    assert (tmp_path / "out" / RECORD).is_file()
    assert record.weights_hash == bundle.manifest.weights_hash
    assert (record.compiler, record.compiler_version, record.card, record.precision) == (
        "tensorrt_rtx",
        "1.7.1",
        "sm120",
        "fp32",
    )
    assert record.acceptance is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rtx:sm90", "trt:current"),
        ("trt:sm90", "build there"),
        ("rtx", "rtx:sm120"),
        ("cuda:sm120", "rtx:sm120"),
        ("rtx:", "rtx:sm120"),
    ],
)
def test_a_target_that_cannot_be_built_is_refused_with_one_that_can(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        parse_target(text)
