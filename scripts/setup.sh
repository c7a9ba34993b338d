# Sourced by the other scripts: goes to the top of the checkout and gives `prepare`.
# Nothing outside the checkout is changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The first interpreter that is new enough; PYTHON=... chooses another one.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "Midstream needs Python 3.11 or newer. Install one, or name it: PYTHON=/path/to/python3 $0"
}

make_venv() {
  local python
  [ -x .venv/bin/python ] && .venv/bin/python -c 'import pip' 2>/dev/null && return
  python=$(find_python)
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "this Python cannot make virtual environments. On Debian and Ubuntu: apt-get install -y python3-venv"
  say "making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
}

# prepare use | prepare develop: .venv with the product, or with the tools of the developers too.
# A stamp remembers the pyproject.toml that was installed, so that the second time costs nothing.
prepare() {
  local wanted stamp
  make_venv
  wanted="$(cksum <pyproject.toml) $PWD"
  for stamp in .venv/ready-develop ".venv/ready-$1"; do
    [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
  done
  say "installing Midstream and what it needs into .venv (once, about a minute)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
  if [ "$1" = develop ]; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[local]' --group dev >&2
  else
    .venv/bin/python -m pip install --disable-pip-version-check --editable '.[local]' >&2
  fi
  printf '%s' "$wanted" >".venv/ready-$1"
}
