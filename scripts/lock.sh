#!/usr/bin/env bash
# Writes constraints/pyX.Y.txt: the versions that `.[dev]` resolves to today on each supported Python (x86-64 Linux).
# Any Python will do to run it: uv resolves for the others. TORCH_PIN is the torch release to pin.
# Run it after a change of pyproject.toml and look at the diff.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --disable-pip-version-check --quiet uv
echo "torch==${TORCH_PIN:-2.13.0}" > "$work/torch.txt"
for version in 3.10 3.11 3.12 3.13; do
  rm -f "$work/all.txt"  # uv would prefer the versions in it
  "$work/venv/bin/uv" pip compile pyproject.toml --extra dev --constraint "$work/torch.txt" \
    --python-version "$version" --python-platform x86_64-manylinux_2_28 \
    --quiet --no-annotate --no-header --output-file "$work/all.txt"
  # The CUDA libraries that a default torch build pulls in are torch's business.
  grep -vE '^(nvidia|cuda|triton|-e|yam-video-action)' "$work/all.txt" | sed 's/ ;.*//' > "constraints/py$version.txt"
  echo "constraints/py$version.txt: $(wc -l < "constraints/py$version.txt") packages"
done
