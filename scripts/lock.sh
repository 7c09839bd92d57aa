#!/usr/bin/env bash
# Writes constraints/pyX.Y.txt: the versions that `.[dev]` resolves to today on each supported Python (x86-64 Linux).
# Give the interpreters as arguments: scripts/lock.sh python3.10 python3.11 python3.12 python3.13
# TORCH_PIN is the torch release to pin. Run it after a change of pyproject.toml and look at the diff.
set -euo pipefail
cd "$(dirname "$0")/.."
pin=${TORCH_PIN:-2.13.0}
[ $# -gt 0 ] || { echo "lock: name the interpreters, for example python3.10 python3.11" >&2; exit 2; }
for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  work=$(mktemp -d)
  "$python" -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check --quiet --upgrade pip
  "$work/venv/bin/python" -m pip install --disable-pip-version-check --dry-run --quiet --ignore-installed \
    --only-binary=:all: --report "$work/report.json" ".[dev]" "torch==$pin"
  "$work/venv/bin/python" - "$work/report.json" > "constraints/py$version.txt" <<'PY'
import json, re, sys
for item in sorted(json.load(open(sys.argv[1]))["install"], key=lambda i: i["metadata"]["name"].lower()):
    name, version = item["metadata"]["name"].lower(), item["metadata"]["version"].split("+")[0]
    # The CUDA libraries that a default torch build pulls in are torch's business.
    if name == "yam-video-action" or re.match(r"nvidia|cuda|triton", name):
        continue
    print(f"{name}=={version}")
PY
  rm -rf "$work"
  echo "constraints/py$version.txt: $(wc -l < "constraints/py$version.txt") packages"
done
