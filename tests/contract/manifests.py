"""A complete, valid manifest as plain data, for tests to bend."""

from __future__ import annotations

from typing import Any

from contract.layout import SIZE

VIEWS = [
    {"role": "top", "top": 0, "left": 0, "height": 64, "width": 64},
    {"role": "left_wrist", "top": 0, "left": 64, "height": 32, "width": 32},
    {"role": "right_wrist", "top": 32, "left": 64, "height": 32, "width": 32},
]


def statistics(kind: str = "absolute") -> dict[str, Any]:
    return {"kind": kind, "offset": [0.0] * SIZE, "scale": [1.0] * SIZE}


def manifest() -> dict[str, Any]:
    return {
        "format": 1,
        "model_id": "test",
        "trained": False,
        "precision": "fp32",
        "canvas": {"height": 64, "width": 96, "views": VIEWS},
        "video": {
            "attention": "bidirectional",
            "latent_channels": 8,
            "latent_frames": 5,
            "latent_height": 8,
            "latent_width": 12,
            "patch_height": 2,
            "patch_width": 2,
            "blocks": 4,
            "tap_block": 2,
            "sigma": 0.5,
            "passes": 1,
            "imagine_passes": 4,
            "feature_source": "untrained",
        },
        "text": {"kind": "words", "max_words": 8, "vocabulary": ["put", "the"]},
        "head": {
            "kind": "flow_transformer",
            "masses_from": "action_step",
            "layers": 2,
            "heads": 4,
            "horizon": 16,
            "step_ns": 100_000_000,
            "max_prefix": 8,
            "flow_steps": 5,
        },
        "state": statistics(),
        "action": {"kinds": ["absolute"] * SIZE, "statistics": [statistics()]},
        "guidance": {"trained_nulls": ["language", "future"], "w_lang_max": 1.0, "w_plan_max": 1.0},
        "provenance": {"command": "none", "seed": 0},
        "files": {"encode.onnx": "0" * 64},
        "weights_hash": "0" * 64,
    }
