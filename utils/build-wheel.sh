#!/usr/bin/env bash
# Builds a wheel of the Python package that needs no LLVM, with the tools, in
# build/wheel, for the Python that the build is for and the C library of this
# machine or a later one. Installs what is missing.
source "$(dirname "$0")/setup.sh"

python_packages=install
set_up
step "Build with LLVM linked in" cmake --build build --target fad-standalone
rm -rf build/wheel
step "Wheel" "$python" -m pip wheel --quiet --no-deps --no-build-isolation \
  --wheel-dir build/wheel . \
  --config-settings=cmake.define.FAD_STANDALONE_DIR="$PWD/build/standalone"
ls -l build/wheel
