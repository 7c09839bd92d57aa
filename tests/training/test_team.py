"""Two processes train one model: the same weights in both, from different samples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.robot_client.link.links import free_port
from training.run import Run
from training.start import train

ROOT = Path(__file__).resolve().parents[2]
TEAM = """
import os, sys
from pathlib import Path
import torch
from safetensors.torch import save_file
from policy_server.model import presets
from tests.training.conftest import toy
from training import start
from training.run import Run

presets.PRESETS["toy"] = toy
torch.set_num_threads(1)


def member(rank):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    models, build = [], start.starting_model
    start.starting_model = lambda *args: models.append(build(*args)) or models[-1]
    run = Run.model_validate_json(Path(sys.argv[1]).read_text())
    start.train(run, Path(sys.argv[2]), "test", lambda line: None)
    state = {name: value.clone() for name, value in models[0].state_dict().items()}
    save_file(state, str(Path(sys.argv[3]) / f"{rank}.safetensors"))


# Everything is imported once; the members part before anything was computed.
members = []
for rank in range(2):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            member(rank)
            code = 0
        finally:
            os._exit(code)
    members.append(pid)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in members))
"""


@pytest.mark.timeout(600)
def test_two_processes_keep_the_same_weights_and_see_other_samples_than_one(run: Run, tmp_path: Path) -> None:
    short = run.model_copy(update={"optimisation": run.optimisation.model_copy(update={"steps": 3})})
    (tmp_path / "run.json").write_text(short.model_dump_json())
    facts = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
        "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    line = [sys.executable, "-c", TEAM, tmp_path / "run.json", tmp_path / "run", tmp_path]
    subprocess.run(line, env={**os.environ, **facts}, cwd=ROOT, check=True, timeout=550)
    first, second = (load_file(str(tmp_path / f"{rank}.safetensors")) for rank in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    together = load_file(str(tmp_path / "run" / "checkpoint" / "weights.safetensors"))
    alone = load_file(str(train(short, tmp_path / "alone", "test", lambda line: None) / "weights.safetensors"))
    assert not torch.equal(together["head.out.weight"], alone["head.out.weight"])
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == 1
