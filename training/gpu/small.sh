#!/usr/bin/env bash
# Trains the larger size `small_grasper` on one GPU machine within 10 minutes and leaves $OUT/checkpoint, below 64 MB.
# NOT RUN SO FAR: written for a machine with a GPU, CUDA's torch and 16 cores, which nobody has had yet. The steps run on a
# CPU too, only far slower. Run from the repository's root: training/gpu/small.sh
set -euo pipefail
OUT=${OUT:-out/gpu}
PYTHON=${PYTHON:-.venv/bin/python}
CORES=$(nproc)
DATA_S=${DATA_S:-200}
TRAIN_S=${TRAIN_S:-330}
export MUJOCO_GL=${MUJOCO_GL:-egl} OMP_NUM_THREADS=1

mkdir -p "$OUT"
"$PYTHON" -c 'import torch; print("GPU:", torch.cuda.get_device_name() if torch.cuda.is_available() else "none, this will take long")'
# Shards appear one by one when they are complete, so what the time allows is used.
timeout -s INT "$DATA_S" "$PYTHON" -m training.cli demonstrations training/gpu/demonstrations.toml --workers "$CORES" || true
# A checkpoint of the averaged weights every 100 steps; the last one counts. 124: the time was over, as planned.
timeout -s INT "$TRAIN_S" "$PYTHON" -m training.cli run training/gpu/small.toml --out out/train --threads "$CORES" || [ $? -eq 124 ]
rm -rf "$OUT/checkpoint"
cp -r out/train/small/checkpoint out/train/small/log.jsonl "$OUT/"
bytes=$(du -sb "$OUT/checkpoint" | cut -f1)
echo "$OUT/checkpoint: $bytes bytes"
[ "$bytes" -lt 67108864 ] || { echo "above the limit of 64 MB" >&2; exit 1; }
