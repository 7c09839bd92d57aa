"""`python -m policy_server.model.cosmos.plan`: what Cosmos-2B needs, counted on torch's meta device; no weights needed.

Parameters by part and arithmetic of one pass, as torch counts it. Times are arithmetic divided by what a card is said
or was measured to do: plans, not measurements.
"""

from __future__ import annotations

from typing import Final

import torch
from torch.utils.flop_counter import FlopCounterMode

from policy_server.model.config import ModelConfig
from policy_server.model.cosmos.adopt import count_parameters
from policy_server.model.policy import VideoActionModel
from policy_server.model.presets import cosmos_2b

CARDS: Final = {
    "H200 (measured, PAPER.md)": 790.0,
    "H100 SXM (0.7 of 989)": 692.0,
    "A100 (0.7 of 312)": 218.0,
    "RTX 5090 (0.7 of 209)": 146.0,
    "RTX 4090 (0.7 of 165)": 116.0,
}
"""bf16 TFLOP/s, dense: measured where it says so, else 0.7 of the data sheet."""


def pass_tflop(config: ModelConfig) -> tuple[float, float]:
    """TFLOP of a whole pass and of one that ends at the tapped block, one branch."""
    height, width = config.latent_size
    with torch.device("meta"):
        backbone = VideoActionModel(config).backbone
        latents = torch.empty(1, config.latent.channels, config.latent.frames, height, width)
        times, text = torch.empty(1, config.latent.frames), torch.empty(1, config.text.length, config.text.width)
        counts = []
        for function in (backbone.velocity, backbone.features):
            with FlopCounterMode(display=False) as counter, torch.no_grad():
                function(latents, times, text)
            counts.append(counter.get_total_flops() / 1e12)
    return counts[0], counts[1]


def main() -> None:
    """Print the plan."""
    config = cosmos_2b()
    counts = count_parameters(config, print)
    whole, tapped = pass_tflop(config)
    replan = config.backbone.passes * whole + tapped
    weights_gb = 2 * (counts["backbone"] + counts["head"] + counts["autoencoder"]) / 1e9
    print(f"weights in bf16 {weights_gb:.1f} GB; a pass {whole:.1f} TFLOP, to the tap {tapped:.1f} TFLOP")
    passes = config.backbone.passes
    print(f"a replan of {passes} + 1 passes: {replan:.1f} TFLOP, with language guidance {2 * replan:.1f}")
    for card, tflop_s in CARDS.items():
        print(f"{card:28} {1e3 * replan / tflop_s:6.0f} ms unguided, {2e3 * replan / tflop_s:6.0f} ms guided")


if __name__ == "__main__":
    main()
