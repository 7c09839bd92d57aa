#!/usr/bin/env bash
# Makes the virtual environment and installs one set of the project into it: scripts/install.sh demo|test|dev|robot|server.
# Quick when nothing changed: a stamp remembers the files that decide what is installed.
#   PYTHON  interpreter to use (3.10 to 3.13; default: the newest found)
#   VENV    where the environment goes (default .venv)
#   TORCH   torch requirement for the sets that need it (default: the CPU build where one is offered)
set -euo pipefail
cd "$(dirname "$0")/.."
set_name=${1:?usage: scripts/install.sh demo|test|dev|robot|server}
venv=${VENV:-.venv}
say() { printf '\033[1m== %s\033[0m\n' "$*"; }
fail() { printf 'install: %s\n' "$*" >&2; exit 1; }

find_python() {
  for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3.10 python3}; do
    command -v "$candidate" >/dev/null || continue
    if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      echo "$candidate"; return
    fi
  done
  fail "no Python 3.10 to 3.13 found; install one (Debian, Ubuntu: apt-get install python3 python3-venv) or set PYTHON"
}

# Debian packages that are missing: what each is for stands beside it.
missing_packages() {
  "$1" -c 'import ensurepip, venv' 2>/dev/null || echo "$2-venv"
  case $set_name in demo|test|dev)
    # Headless rendering of the twin: EGL or OSMesa.
    if ! ldconfig -p | grep -q 'libOSMesa\.so' && ! ldconfig -p | grep -q 'libEGL_mesa\.so'; then
      echo libegl1; echo libegl-mesa0; echo libgl1-mesa-dri
    fi
    ldconfig -p | grep -q 'libGL\.so\.1' || echo libgl1 ;;
  esac
}

install_packages() {
  [ $# -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    fail "missing system packages; run: sudo apt-get install $*"
  fi
  say "installing system packages: $*"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

python=$(find_python)
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
constraints=constraints/py$version.txt
stamp=$venv/.installed-$set_name
inputs="pyproject.toml $constraints scripts/install.sh"
if [ -f "$stamp" ] && [ -z "$(find $inputs -newer "$stamp")" ] && [ -x "$venv/bin/python" ]; then exit 0; fi

# shellcheck disable=SC2046
install_packages $(missing_packages "$python" "python$version")
if [ ! -x "$venv/bin/python" ]; then
  say "making $venv with $("$python" --version)"
  "$python" -m venv "$venv"
fi
pip=("$venv/bin/python" -m pip --disable-pip-version-check)
case $set_name in test|dev)
  if ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
    pin=$(sed -n 's/^torch==\([^ ;]*\).*/\1/p' "$constraints")
    say "installing torch $pin (the CPU build where one is offered; set TORCH to choose)"
    if [ -n "${TORCH:-}" ]; then "${pip[@]}" install -q "$TORCH"
    else "${pip[@]}" install -q "torch==$pin+cpu" 2>/dev/null || "${pip[@]}" install -q "torch==$pin"; fi
  fi ;;
esac
say "installing the project's '$set_name' set into $venv"
start=$SECONDS
"${pip[@]}" install -q -c "$constraints" -e ".[$set_name]"
touch "$stamp"
say "installed in $((SECONDS - start)) s"
