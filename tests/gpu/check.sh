#!/usr/bin/env bash
# What a machine with an NVIDIA card is asked once: parity with the CPU, and times of every engine that is there.
# Needs torch with CUDA, diffusers, onnx and this repository; no network. Writes one JSON and ends within 8 minutes.
#   tests/gpu/check.sh [OUT.json]        PYTHON=... to choose the interpreter
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${1:-out/bench/gpu.json}
python=${PYTHON:-python3}
export PYTHONPATH=. HF_HUB_OFFLINE=1
exec timeout --kill-after=10 470 "$python" -m tests.gpu.check "$out"
