"""`python -m policy_server.export.untrained_bundle OUT`: a policy of random weights, before anything is trained."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import tyro

from contract.manifest import BundleManifest
from policy_server.export.bundle import export_bundle
from policy_server.model.untrained import make_untrained

MODULE = "policy_server.export.untrained_bundle"


def untrained_bundle(
    out: Annotated[Path, tyro.conf.Positional], seed: int = 0, size: str = "tiny", station: str = "twin"
) -> BundleManifest:
    """Write an untrained bundle of fixed weights to OUT.

    Args:
        out: bundle folder to write; an existing bundle there is replaced.
        seed: seed of the weights; the same seed gives the same bundle.
        size: model size, one of policy_server.model.presets.
        station: station whose home pose the actions move about.
    """
    command = f"python -m {MODULE} out/bundles/{out.name} --seed {seed} --size {size} --station {station}"
    with tempfile.TemporaryDirectory() as scratch:
        make_untrained(Path(scratch), seed=seed, size=size, station=station, command=command)
        return export_bundle(scratch, out, progress=print)


if __name__ == "__main__":
    tyro.cli(untrained_bundle)
