"""The bytes of protocol 1 are frozen: what this release sends, and what it must go on reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.codec import decode
from contract.version import PROTOCOL
from tests.contract.test_codec import same
from tests.golden.frozen import FOLDER, encoded, freeze, read_frames
from tests.golden.messages import EXCHANGE


@pytest.mark.parametrize("name", EXCHANGE)
def test_a_golden_message_is_encoded_to_exactly_its_frozen_bytes(name: str) -> None:
    assert encoded(name) == read_frames(FOLDER / f"{name}.hex")


@pytest.mark.parametrize("name", EXCHANGE)
def test_frozen_bytes_are_decoded_to_the_golden_message(name: str) -> None:
    message, request_id = EXCHANGE[name]
    envelope = decode(read_frames(FOLDER / f"{name}.hex"))
    assert envelope.request_id == request_id
    assert same(envelope.message, message)


def test_every_frozen_file_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.hex")} == set(EXCHANGE)


def test_frozen_bytes_are_not_overwritten_by_accident(tmp_path: Path) -> None:
    assert freeze(tmp_path, accept=False) == []
    altered = tmp_path / "03_ping.hex"
    altered.write_text("00\n")
    assert freeze(tmp_path, accept=False) == ["03_ping"]
    assert altered.read_text() == "00\n"
    assert freeze(tmp_path, accept=True) == []
    assert read_frames(altered) == encoded("03_ping")


def test_the_worked_example_of_the_document_is_the_frozen_one() -> None:
    """docs/protocol.md shows bytes; they must be these."""
    document = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
    assert f"Protocol {PROTOCOL}" in document
    for name in ("03_ping", "05_observation"):
        for line in (FOLDER / f"{name}.hex").read_text().splitlines():
            assert line in document.replace("\n", "").replace(" ", "")
