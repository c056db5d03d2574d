# Sourced by demo.sh and test.sh: installs what is missing, configures, builds.
# Everything goes into the folder build/ of the checkout.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source utils/python-packages.sh

# The treatment of the tests' packages from PyPI: "install", "use" it where it is
# installed, or "leave" it out.
python_packages=use

# CMake's options for a build that is not there yet.
build_options=()

# Packages that a build and its tests need, as Debian 12 calls it. LLVM 22 comes from
# bookworm-security, which a stock Debian 12 has enabled.
packages=(
  g++ clang-22 cmake ninja-build                            # build
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools libzstd-dev
  libomp-22-dev                                             # parallel loops
  libdnnl2 libopenblas0-openmp                              # contractions
  python3 python3-numpy python3-mpmath libgtest-dev         # tests, example
)

# step NAME COMMAND...: runs the command and says how long it took.
step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n==> %s\n' "$name"
  if ! "$@"; then
    printf '==> %s: failed after %d s\n' "$name" $((SECONDS - start)) >&2
    exit 1
  fi
  printf '==> %s: %d s\n' "$name" $((SECONDS - start))
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "installing packages needs root and there is no sudo;" \
      "as root, run: $*" >&2
    return 1
  fi
}

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -Wf '${db:Status-Status}' "$package" 2>/dev/null)" = \
      installed ] || echo "$package"
  done
}

install_packages() {
  if ! command -v apt-get >/dev/null; then
    echo "no apt-get here, so nothing is installed; fad needs CMake 3.25," \
      "Ninja, a C++17 compiler, LLVM and MLIR 22 with their tools, OpenMP," \
      "GoogleTest, and Python 3 with numpy and mpmath"
    return
  fi
  local missing
  read -r -a missing <<<"$(missing_packages | tr '\n' ' ')"
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all packages are installed"
    return
  fi
  as_root apt-get update -q || return
  echo "about to install: ${missing[*]}"
  # With --assume-no, apt-get prints packages and sizes and then stops.
  LC_ALL=C apt-get install --assume-no --no-install-recommends \
    "${missing[@]}" 2>/dev/null |
    sed -n '/^The following NEW/,/^After this/p' || true
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The first Python that has what the tests need. Debian's is first: it alone sees Debian's
# packages, and it is built with profiles, so that tests take a tenth less time than with a
# Python that was compiled without.
find_python() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c 'import numpy, mpmath' 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  echo "no Python 3 with numpy and mpmath found" >&2
  return 1
}

# configure PRESET [OPTION...]: for a build from scratch, which takes a third of the time
# where the files of a folder are compiled as one. Clang takes two thirds of
# GCC's time. A build that is there keeps its compiler and options, CXX chooses another compiler,
# and the build with sanitizers has GCC's, which is tried that way.
configure() {
  local options=()
  if [ "$1" = release ] && [ ! -e build/CMakeCache.txt ]; then
    options=("${@:2}")
    if [ -z "${CXX:-}" ] && command -v clang++-22 >/dev/null; then
      options+=(-DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22)
    fi
  fi
  cmake --preset "$1" "${options[@]}" -DFAD_UNITY_BUILD=ON \
    -DPython3_EXECUTABLE="$python" -DFAD_TEST_PYTHON="$python"
}

# Installs what is missing, and says in `python` which Python the build is for.
prepare() {
  if [ "$python_packages" = install ]; then
    packages+=(python3-venv python3-dev)
  fi
  step "Install what is missing" install_packages
  python=$(find_python)
  if [ "$python_packages" = install ]; then
    step "Install Python packages of the build" install_build_packages
    python=$venv/bin/python
  elif [ "$python_packages" = use ] && venv_is_complete; then
    python=$venv/bin/python
  fi
}

# The extension of fad.torch.nest, for the target fad-eager-extension to find: that would be
# the last to be built, alone. Where it cannot be built, that target says why.
build_extension() {
  env -u PYTHONDONTWRITEBYTECODE "PYTHONPATH=$PWD/build/python" "FAD_CACHE_DIR=$PWD/build/cache" \
    "PYTHONPYCACHEPREFIX=$PWD/build/cache/bytecode" \
    "$venv/bin/python" test/build_extension.py \
    "$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' build/CMakeCache.txt)" || true
}

# Inductor's first graph, as the tests have it (test/lit.cfg.py): the bytecode of its modules and
# its precompiled header. The first tests would each make both, at once.
compile_first_graph() {
  env -u PYTHONDONTWRITEBYTECODE "PYTHONPYCACHEPREFIX=$PWD/build/cache/bytecode" \
    TORCHINDUCTOR_VEC_ISA_OK=1 "TORCHINDUCTOR_CACHE_DIR=$PWD/build/cache/inductor" \
    "$venv/bin/python" test/first_graph.py || true
}

# build_beside_packages TARGET...: builds the targets while the other Python packages are
# installed, and then what needs PyTorch. The lock is held until all are there; the target
# fad-eager-extension waits for it.
build_beside_packages() {
  local installing status=0
  exec 9>"$venv.lock"
  flock 9
  # A process group of its own, for a signal to reach what it starts too.
  set -m
  { install_python_packages && build_extension && compile_first_graph; } \
    </dev/null >"$venv.log" 2>&1 &
  installing=$!
  set +m
  exec 9>&-
  trap 'kill -- -$installing 2>/dev/null || true; exit 130' HUP INT TERM
  cmake --build build --target "$@" || status=$?
  [ $status = 0 ] || kill -- -$installing 2>/dev/null || true
  wait $installing || {
    [ $status != 0 ] || cat "$venv.log" >&2
    status=1
  }
  trap - HUP INT TERM
  return $status
}

# set_up [TARGET...]: builds the targets in one run, for no core to wait; else all.
set_up() {
  prepare
  step "Configure" configure release "${build_options[@]}"
  if [ "$python_packages" = install ] && ! venv_is_complete; then
    step "Build, and install the other Python packages" build_beside_packages "${@:-all}"
  else
    step "Build" cmake --build build --target "${@:-all}"
  fi
}
