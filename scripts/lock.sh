#!/usr/bin/env bash
# Writes constraints/pyX.Y.txt: the versions that `.[dev]` resolves to today on each supported Python (x86-64 Linux).
# TORCH_PIN is the torch release to pin; run it after a change of pyproject.toml and look at the diff.
set -euo pipefail
cd "$(dirname "$0")/.."
pin=${TORCH_PIN:-2.13.0}
python=${VENV:-.venv}/bin/python
for version in 3.10 3.11 3.12 3.13; do
  report=$(mktemp)
  "$python" -m pip install --disable-pip-version-check --dry-run --quiet --ignore-installed --target "$(mktemp -d)" \
    --python-version "$version" --only-binary=:all: --report "$report" ".[dev]" "torch==$pin"
  "$python" - "$report" > "constraints/py$version.txt" <<'PY'
import json, re, sys
for item in sorted(json.load(open(sys.argv[1]))["install"], key=lambda i: i["metadata"]["name"].lower()):
    name, version = item["metadata"]["name"].lower(), item["metadata"]["version"].split("+")[0]
    # The CUDA libraries that a default torch build pulls in are torch's business.
    if name == "yam-video-action" or re.match(r"nvidia|cuda|triton", name):
        continue
    print(f"{name}=={version}")
PY
  echo "constraints/py$version.txt: $(wc -l < "constraints/py$version.txt") packages"
done
