"""`python -m training.estimate SIZE`: parameters, memory and time of fine-tuning a size, on paper.

Parameters are counted on torch's meta device, which holds no numbers. Memory: weights 4 bytes; gradients 4 and AdamW's
moments 8 for what is trained, the average another 4; activations about 34 bytes a token and width in each block
(Korthikanti et al. 2022, half precision, without the attention matrix), or one hidden state a block with
recomputation. Time: three passes a step (forward, and twice that backward), as torch counts a pass, at half the rate.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import tyro

from contract.errors import StackError
from policy_server.model.config import ModelConfig
from policy_server.model.cosmos.adopt import count_parameters
from policy_server.model.cosmos.plan import pass_tflop
from policy_server.model.presets import preset

_GB = 1e9
_ACTIVATION_BYTES = 34
_USED_SHARE = 0.5
"""Of a GPU's rate in matrix products that training is taken to reach."""


@dataclass(frozen=True)
class Arguments:
    """What to estimate; nothing is trained."""

    size: tyro.conf.Positional[str] = "cosmos_2b"
    lora_rank: int = 16
    batch: int = 4
    """Samples a GPU."""
    steps: int = 30_000
    tflop_s: float = 790.0
    """Rate of a GPU in bf16; 790 was measured on an H200 (PAPER: sizes)."""


def lora_parameters(config: ModelConfig, rank: int) -> int:
    """Of additions to the attention and feed-forward layers of every block (training.adaptation)."""
    width, text = config.backbone.width, config.text.width
    feed = int(width * config.backbone.mlp_ratio)
    ends = 4 * (2 * width) + 2 * (2 * width) + 2 * (width + text) + 2 * (width + feed)
    return config.backbone.layers * rank * ends


def lines(arguments: Arguments) -> list[str]:
    """The estimate for people."""
    config = preset(arguments.size)
    counted = count_parameters(config)
    tokens = config.token_grid[0] * config.token_grid[1] * config.token_grid[2]
    told = [f"{name}: {count / 1e6:,.1f} M parameters" for name, count in counted.items()]
    told.append(f"tokens a sample: {tokens:,}")
    trained = {
        "frozen": counted["head"],
        f"lora, rank {arguments.lora_rank}": lora_parameters(config, arguments.lora_rank) + counted["head"],
        "full": counted["backbone"] + counted["head"],
    }
    hidden = tokens * config.backbone.width * arguments.batch * config.backbone.layers
    whole, recomputed = hidden * _ACTIVATION_BYTES, hidden * 2
    for name, count in trained.items():
        fixed = 4 * 2 * sum(counted.values()) + 12 * count
        told.append(
            f"{name}: {count / 1e6:,.1f} M trained; weights, average, gradients and moments {fixed / _GB:,.1f} GB; "
            f"activations {whole / _GB:,.1f} GB, or {recomputed / _GB:,.1f} GB if recomputed"
        )
    passes, rate = pass_tflop(config)[0], arguments.tflop_s * _USED_SHARE
    seconds = 3 * passes * arguments.batch / rate
    hours = seconds * arguments.steps / 3600
    told.append(
        f"a pass {passes:,.1f} TFLOP; a step of {arguments.batch} samples {seconds:.2f} s, {arguments.steps:,} steps "
        f"{hours:,.0f} hours, on a GPU at {_USED_SHARE:.0%} of {arguments.tflop_s:g} TFLOP/s; recomputed a third more"
    )
    return told


def main() -> int:
    """Entry point."""
    try:
        print("\n".join(lines(tyro.cli(Arguments, prog="python -m training.estimate"))))
    except StackError as error:
        print(f"estimate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
