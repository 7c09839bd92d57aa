"""Models and bundles that several test files share, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from policy_server.export.bundle import export_bundle
from policy_server.model.policy import VideoActionModel
from policy_server.model.untrained import make_untrained, untrained_model
from tests.policy_server.model.nano import HEADS, nano


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session", params=HEADS)
def head_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def nano_model(head_kind: str) -> VideoActionModel:
    return untrained_model(3, nano(head_kind))


@pytest.fixture(scope="session")
def nano_checkpoint(head_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(f"checkpoint_{head_kind}")
    make_untrained(folder, seed=3, size=nano(head_kind))
    return folder


@pytest.fixture(scope="session")
def nano_bundle(nano_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles") / "nano"
    export_bundle(nano_checkpoint, folder)
    return folder


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the committed bundle was exported from."""
    folder = tmp_path_factory.mktemp("tiny")
    make_untrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bundle() -> Path:
    """The committed bundle."""
    return Path(__file__).resolve().parents[3] / "bundles" / "tiny"
