#!/usr/bin/env bash
# Installs the packages of a lock and this project into .venv, unless they are there; every file is compared with its
# hash. .venv is made again if it is incomplete, was moved, or belongs to another Python.
#   ./install.sh requirements.lock      all that `croupier` needs
#   ./install.sh requirements-dev.lock  these, and all that load tests, tests and checks need
# PYTHON is the interpreter to use; by default the first one of PYTHONS that is supported.
set -euo pipefail
# Without symbolic links, as .venv names itself.
cd -P "$(dirname "$0")"
PYTHONS=(python3 python3.14 python3.13 python3.12 python3.11)
lock=$1
venv=$PWD/.venv
stamp=$venv/.installed
export PIP_DISABLE_PIP_VERSION_CHECK=1

fail() {
    echo "install: $*" >&2
    exit 1
}

version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

is_supported() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

supported_python() {
    local each
    [ -z "${PYTHON:-}" ] || PYTHONS=("$PYTHON")
    for each in "${PYTHONS[@]}"; do
        if is_supported "$each"; then
            echo "$each"
            return
        fi
    done
    each=${PYTHON:-python3}
    fail "croupier needs Python 3.11 or newer: $each is $(version "$each" || echo missing)." \
        "Install one, or name it: make PYTHON=/path/to/python3.12"
}

# Where .venv is and to which Python it belongs. It is the first line of the stamp, which is there between installations.
identity() {
    "$venv/bin/python" -c 'import sys; print(sys.prefix, *sys.version_info[:2])' 2>/dev/null
}

is_usable() {
    [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$(identity)" ] &&
        { [ -z "${PYTHON:-}" ] || [ "$(version "$PYTHON")" = "$(version "$venv/bin/python")" ]; }
}

entry() {
    echo "$1 $(cat pyproject.toml "$1" | cksum)"
}

make_venv() {
    local python
    python=$(supported_python)
    [ ! -e "$venv" ] || echo "install: .venv is made again: it is incomplete, was moved, or belongs to another Python"
    echo "install: making .venv with Python $(version "$python")"
    "$python" -m venv --clear "$venv"
}

install_lock() {
    echo "install: the packages of $lock, $(size) to download if pip has not kept them"
    show_growth &
    trap "kill $!" EXIT
    "$venv/bin/python" -m pip install --progress-bar off --require-hashes --requirement "$lock" | show_packages
    "$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable .
}

show_packages() {
    while read -r word name size; do
        case $word in
        Downloading) echo "  ${name##*/} $size" ;;
        Installing) echo "  Installing" ;;
        esac
    done
}

# Unpacking and compiling takes a while after the last download.
show_growth() {
    while sleep 4 >/dev/null 2>&1; do
        echo "  $(du -sm "$venv" | cut -f 1) MB are in .venv"
    done
}

# On x86_64 Linux, from `pip download`.
size() {
    case $lock in
    requirements.lock) echo "67 MB" ;;
    *) echo "280 MB" ;;
    esac
}

# Without a stamp, an installation that is interrupted is repeated from the beginning.
if is_usable; then
    for each in "$lock" requirements-dev.lock; do
        ! grep -Fqx "$(entry "$each")" "$stamp" || exit 0
    done
    others=$(grep -v "^$lock " "$stamp")
    rm "$stamp"
else
    make_venv
    others=$(identity)
fi
install_lock
printf '%s\n' "$others" "$(entry "$lock")" >"$stamp"
