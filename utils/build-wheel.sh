#!/usr/bin/env bash
# Builds a wheel of the Python package in build/wheel that needs no LLVM, with the tools,
# for the Python that the build is for, with the extension of fad.torch.nest for its
# PyTorch; with --all, the wheels of a release, for Python 3.10, 3.11, and 3.12 and later,
# with extensions for the releases of torch-releases.txt. The wheels run with the C library
# of glibc 2.34 and the C++ library of GCC 11, or later ones. Installs what is
# missing, but for the Pythons of --all: these are on the PATH, or pyenv's. With --built,
# nothing is installed, and the build is taken as it is; --pythons prints the Pythons.
source "$(dirname "$0")/setup.sh"

all='' built='' pythons_alone=''
for option in "$@"; do
  case $option in
    --all) all=1 ;;
    --built) built=1 ;;
    --pythons) all=1 built=1 pythons_alone=1 ;;
    *) echo "usage: build-wheel.sh [--all] [--built | --pythons]" >&2; exit 2 ;;
  esac
done
platform=manylinux_2_34_$(uname -m)
standalone=$PWD/build/standalone
prebuilt=$standalone/fad/torch/eager/prebuilt
tools=$PWD/build/wheel-tools

# find_python_of MINOR...: the first Python of one of these versions of Python 3 that has
# headers and can make environments.
find_python_of() {
  local minor candidate
  for minor in "$@"; do
    for candidate in "$python" "python3.$minor" ~/.pyenv/versions/3."$minor".*/bin/python; do
      if "$candidate" - "$minor" 2>/dev/null <<'END'; then
import ensurepip, pathlib, sys, sysconfig
assert sys.version_info[:2] == (3, int(sys.argv[1]))
assert pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()
END
        command -v "$candidate"
        return
      fi
    done
  done
  echo "no Python 3.${*} with headers was found on the PATH and in ~/.pyenv; install one," \
    "as in: uv python install 3.$1" >&2
  return 1
}

# The Pythons that wheels are built by.
find_pythons() {
  pythons=("$python")
  [ -n "$all" ] || return 0
  local oldest next later
  oldest=$(find_python_of 10) && next=$(find_python_of 11) && later=$(find_python_of 12 13 14) &&
    pythons=("$oldest" "$next" "$later")
}

find_releases() {
  if [ -n "$all" ]; then
    grep -v '^#' utils/torch-releases.txt
  else
    "$python" -c 'import torch; print(torch.__version__.partition("+")[0])'
  fi
}

# The extension needs PyTorch's headers alone.
build_extensions() {
  local folder headers releases built_now=()
  mapfile -t releases < <(find_releases)
  headers=$("$python" utils/torch-headers.py build/torch-headers "${releases[@]}") || return
  while read -r folder; do
    built_now+=("$(PYTHONPATH=build/python FAD_CACHE_DIR=$prebuilt \
      "$python" -m fad.torch.eager "$folder")") || return
  done <<<"$headers"
  # Those of other sources stay out.
  mkdir -p "$prebuilt.new"
  mv "${built_now[@]}" "$prebuilt.new"
  rm -rf "$prebuilt"
  mv "$prebuilt.new" "$prebuilt"
  strip --strip-unneeded "$prebuilt"/*.so
}

# requirements FILE NAME...: the lines of these packages.
requirements() {
  local file=$1
  shift
  printf '%s\n' "$@" | sed 's/.*/^&==/' | grep -f - "$file"
}

# make_wheel PYTHON
make_wheel() {
  local name environment needed compiler=()
  name=$("$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])') || return
  environment=$PWD/build/wheel-environments/$name
  needed=$(requirements utils/requirements.txt nanobind scikit_build_core) || return
  "$1" -m venv "$environment" || return
  # shellcheck disable=SC2086 # Several arguments.
  "$environment/bin/pip" install --quiet $needed || return
  for language in C CXX; do
    compiler+=("--config-settings=cmake.define.CMAKE_${language}_COMPILER=$(
      sed -n "s/^CMAKE_${language}_COMPILER:[A-Z]*=//p" build/CMakeCache.txt)")
  done
  "$environment/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel/linux . \
    --config-settings=build-dir="build/wheel-build/$name" "${compiler[@]}" \
    --config-settings=cmake.define.fad_DIR="$PWD/build/lib/cmake/fad" \
    --config-settings=cmake.define.FAD_STANDALONE_DIR="$standalone"
}

# Reads the versions of all symbols. LLVM 22's libraries, for the plugin, and PyTorch's
# are those of the machine; pip puts the tools where they find libfad.so.
tag_wheels() {
  local wheel
  for wheel in build/wheel/linux/*.whl; do
    PATH=$tools/bin:$PATH auditwheel repair --plat "$platform" --wheel-dir build/wheel \
      --exclude libfad.so --exclude 'libLLVM.so.*' --exclude 'libMLIR.so.*' \
      --exclude libc10.so --exclude libtorch_cpu.so --exclude libtorch.so "$wheel" || return
  done
  rm -r build/wheel/linux
}

if [ -n "$built" ]; then
  python=$(sed -n 's/^FAD_TEST_PYTHON:[A-Z]*=//p' build/CMakeCache.txt)
else
  python_packages=install
  set_up
fi
find_pythons
if [ -n "$pythons_alone" ]; then
  printf '%s\n' "${pythons[@]}"
  exit
fi
step "Build with LLVM linked in" cmake --build build --target fad-standalone
rm -rf build/wheel
step "Extensions of fad.torch.nest" build_extensions
for python_of_wheel in "${pythons[@]}"; do
  step "Wheel of $python_of_wheel" make_wheel "$python_of_wheel"
done
"$python" -m venv "$tools"
step "Install auditwheel" "$tools/bin/pip" install --quiet --requirement utils/requirements-release.txt
step "Versions of symbols" tag_wheels
ls -l build/wheel
