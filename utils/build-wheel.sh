#!/usr/bin/env bash
# Builds a wheel of the Python package that needs no LLVM, with the tools, in
# build/wheel, for the Python that the build is for and the C library of this
# machine or a later one. Where that Python has PyTorch, the wheel has the extension
# of fad.torch.nest for its release. Installs what is missing.
source "$(dirname "$0")/setup.sh"

python_packages=install
set_up
step "Build with LLVM linked in" cmake --build build --target fad-standalone
rm -rf build/wheel
prebuilt=build/standalone/fad/torch/eager/prebuilt
rm -rf $prebuilt

make_wheel() {
  "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel . \
    --config-settings=cmake.define.FAD_STANDALONE_DIR="$PWD/build/standalone"
}
step "Wheel" make_wheel
# With PyTorch, the wheel has the extension of fad.torch.nest for its release.
if "$python" -c "import torch" 2> build/wheel/torch.txt; then
  rm -rf build/wheel/site
  "$python" -m pip install --quiet --no-deps --target build/wheel/site build/wheel/fad-*.whl
  step "Extension of fad.torch.nest" env PYTHONPATH=build/wheel/site FAD_CACHE_DIR=$prebuilt \
    "$python" -m fad.torch.eager
  rm -f $prebuilt/*.lock
  step "Wheel with the extension" make_wheel
fi
rm -rf build/wheel/site build/wheel/torch.txt
ls -l build/wheel
