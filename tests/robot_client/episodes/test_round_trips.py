"""Our episodes in the layouts of others and back: the numbers, the stamps, the pictures, and who drove."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

pytest.importorskip("pyarrow", reason="datasets need pyarrow")

import pyarrow.parquet as pq

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.entry_writer import EntryWriter
from robot_client.episodes.export import Export, export
from robot_client.episodes.formats.choose import episodes_at, open_episode
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Picture
from robot_client.episodes.import_episode import import_episode
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from tests.robot_client.episodes import foreign
from tests.robot_client.episodes.foreign import ROLES, action_at, shade, state_at

START_NS = 1_700_000_000 * NS_PER_S
SECONDS = 1.5
RATES = dict.fromkeys(ROLES, 30.0)


def entries() -> list[Entry]:
    """A policy drives, a person takes over for half a second, the policy drives on. Arms at 100 Hz, cameras at 30."""
    found: list[Entry] = [Instruction(START_NS, "put it in the box"), Driver(START_NS, "POLICY", "policy")]
    found += [
        Driver(START_NS + NS_PER_S // 2, "TELEOP", "teleop", ("left",)),
        Driver(START_NS + NS_PER_S, "POLICY", "policy"),
    ]
    for i in range(int(SECONDS * 100)):
        ns = START_NS + i * NS_PER_S // 100
        found += [Joints(ns, "measured", state_at(i / 4)), Joints(ns, "told", action_at(i / 4))]
    for i in range(int(SECONDS * 30)):
        image = np.full((48, 64, 3), shade(i), np.uint8)
        found += [Picture(START_NS + i * NS_PER_S // 30, role, lambda image=image: image) for role in ROLES]
    return sorted(found, key=lambda entry: entry.stamp_ns)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "episode_000000"
    writer = EntryWriter(folder)
    writer.open()
    for entry in entries():
        writer.add(entry)
    writer.close({"instruction": "put it in the box"}, RATES, (), "made_from")
    assert info_of(folder).complete
    return folder


def joints_of(found: list[Entry], kind: str) -> dict[int, np.ndarray]:
    return {e.stamp_ns: e.values for e in found if isinstance(e, Joints) and e.kind == kind}


def shades_of(found: list[Entry], role: str) -> dict[int, float]:
    return {e.stamp_ns: float(e.rgb().mean()) for e in found if isinstance(e, Picture) and e.role == role}


def same(found: list[Entry], other: list[Entry], atol: float) -> None:
    for kind in ("measured", "told"):
        was, now = joints_of(other, kind), joints_of(found, kind)
        assert was.keys() == now.keys() and was
        np.testing.assert_allclose(list(now.values()), list(was.values()), atol=atol)
    for role in ROLES:
        was_shades, now_shades = shades_of(other, role), shades_of(found, role)
        assert was_shades.keys() == now_shades.keys() and was_shades
        np.testing.assert_allclose(list(now_shades.values()), list(was_shades.values()), atol=4)


def test_our_own_layout_gives_back_what_was_written(own: Path) -> None:
    same(list(open_episode(own).entries()), entries(), 1e-15)


def test_through_abc_and_back_nothing_changes(own: Path, tmp_path: Path) -> None:
    """Every stamp to the nanosecond, every joint to the bit, every frame under its own stamp."""
    export([own], "abc", Export(tmp_path / "abc"), lambda line: None)
    source = open_episode(tmp_path / "abc")
    assert source.layout == "ABC-130k" and source.cameras() == RATES
    same(list(source.entries()), list(open_episode(own).entries()), 0.0)
    assert source.facts["instruction"] == "put it in the box" and source.missing == ()
    again = import_episode(source, tmp_path / "episodes")
    same(list(open_episode(again).entries()), entries(), 1e-15)


def test_an_abc_file_of_ours_has_schemas_that_protobuf_itself_reads(own: Path, tmp_path: Path) -> None:
    """The descriptors in the file are enough for the stock library to decode every message."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    export([own], "abc", Export(tmp_path / "abc"), lambda line: None)
    seen: Counter[str] = Counter()
    pools: dict[str, object] = {}
    with (tmp_path / "abc" / "episode.mcap").open("rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            assert schema is not None and channel.message_encoding == "protobuf"
            if schema.name not in pools:
                pool = descriptor_pool.DescriptorPool()
                for one in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
                    pool.Add(one)
                pools[schema.name] = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
            decoded = pools[schema.name].FromString(message.data)  # type: ignore[attr-defined]
            assert decoded.timestamp.seconds * NS_PER_S + decoded.timestamp.nanos == message.log_time
            seen[schema.name] += 1
    assert seen["foxglove.CompressedVideo"] == 135 and seen["RobotState"] == seen["GripperState"] == 600


def test_through_lerobot_and_back_the_grid_has_what_was_true_then(own: Path, tmp_path: Path) -> None:
    """B40: and who drove, for every frame, so that a person's half second can be trained on."""
    frames = export([own], "lerobot", Export(tmp_path / "set"), lambda line: None)
    source = episodes_at(tmp_path / "set")[0]
    found = list(source.entries())
    told = joints_of(found, "told")
    assert len(told) == frames and 43 <= frames <= 45
    for stamp_ns, values in told.items():
        at = (stamp_ns - min(told)) / NS_PER_S * 100
        np.testing.assert_allclose(values, action_at(np.floor(at + 1e-6) / 4), atol=1e-6)
    for role in ROLES:
        shades = list(shades_of(found, role).values())
        np.testing.assert_allclose(shades, [shade(i) for i in range(frames)], atol=6)
    assert source.facts["instruction"] == "put it in the box"
    drivers = [(e.source, e.mode, e.intervention) for e in found if isinstance(e, Driver)]
    assert drivers == [("policy", "POLICY", ()), ("teleop", "TELEOP", ("left",)), ("policy", "POLICY", ())]


def test_the_control_source_is_a_feature_of_its_own(own: Path, tmp_path: Path) -> None:
    """Interventions: one string for each frame, declared in info.json as LeRobot wants it."""
    export([own], "lerobot", Export(tmp_path / "set"), lambda line: None)
    info = json.loads((tmp_path / "set" / "meta" / "info.json").read_text())
    assert info["features"]["control_source"] == {"dtype": "string", "shape": [1], "names": None}
    sources = pq.read_table(tmp_path / "set" / "data")["control_source"].to_pylist()
    assert Counter(sources)["teleop"] == 15
    changes = [i for i in range(1, len(sources)) if sources[i] != sources[i - 1]]
    assert changes == [15, 30] and sources[0] == sources[-1] == "policy"
    taken = pq.read_table(tmp_path / "set" / "data")["intervention"].to_pylist()
    assert taken == [[source == "teleop", False] for source in sources]
    assert info["features"]["intervention"]["names"] == ["left", "right"]


def test_a_dataset_survives_becoming_episodes_and_a_dataset_again(tmp_path: Path) -> None:
    """LeRobot v2.1 -> ours -> LeRobot v3: two episodes stay two, with their own frames."""
    root = foreign.lerobot_v21(tmp_path / "v21", extra=18)
    for source in episodes_at(root):
        import_episode(source, tmp_path / "episodes")
    export([tmp_path / "episodes"], "lerobot", Export(tmp_path / "v3", rate_hz=30.0), lambda line: None)
    sources = episodes_at(tmp_path / "v3")
    assert len(sources) == 2
    for source, count in zip(sources, (foreign.FRAMES, foreign.FRAMES - 10), strict=True):
        told = list(joints_of(list(source.entries(())), "told").values())
        assert count - 1 <= len(told) <= count
        np.testing.assert_allclose(told, [action_at(i) for i in range(len(told))], atol=1e-6)


def test_a_plain_bag_has_every_message_of_ours(own: Path, tmp_path: Path) -> None:
    export([own], "rosbag", Export(tmp_path / "bag"), lambda line: None)
    was = sorted((m.topic, m.log_ns, m.data) for m in BagReader(own).messages())
    assert sorted((m.topic, m.log_ns, m.data) for m in BagReader(tmp_path / "bag").messages()) == was
    assert info_of(tmp_path / "bag").complete


@pytest.mark.parametrize("to", ["lerobot", "abc", "rosbag"])
def test_nothing_is_exported_into_what_exists(own: Path, tmp_path: Path, to: str) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(EpisodeError, match="new folder"):
        export([own], to, Export(tmp_path / "there"), lambda line: None)  # type: ignore[arg-type]
    assert not list((tmp_path / "there").iterdir())
