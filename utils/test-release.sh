#!/usr/bin/env bash
# Runs tests of fad.torch with another release of PyTorch, and with another Python, on the
# build of this checkout: torch.compile with both engines, nest with both, explain and
# saved_memory. lit counts the tests.
#
# PyTorch comes from PyPI, with CUDA's libraries: 3 GB to download, 5 GB on disk. A Python
# that the build is not for has the bindings compiled.
#
# Usage: test-release.sh RELEASE [PYTHON [FOLDER]]
# RELEASE is that of PyTorch, such as 2.11.0. PYTHON is the build's by default. FOLDER is where
# all of it is kept, or was kept before; by default, it is removed.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 3 ] || [[ $1 == -* ]]; then
  sed -n '2,/^set/s/^# \?//p' "$0" >&2
  exit 2
fi
unset PYTHONPATH
release=$1
root=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/..")
build=$root/build
read_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if [ ! -d "$build/python/fad" ]; then
  echo "test-release.sh: there is no Python package in $build; utils/test.sh makes one" >&2
  exit 1
fi
python=${2:-$(read_cache FAD_TEST_PYTHON)}
if [ $# -eq 3 ]; then
  folder=$(realpath -m "$3")
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi

own=$folder/bin/python
if [ ! -x "$own" ]; then
  "$python" -m venv "$folder"
  # A constraint of the machine on PyTorch is for others.
  PIP_CONSTRAINT=/dev/null "$own" -m pip install --quiet --no-cache-dir "torch==$release" numpy nanobind
fi
found=$("$own" -c 'import torch; print(torch.__version__.partition("+")[0])')
if [ "$found" != "$release" ]; then
  echo "test-release.sh: $folder has PyTorch $found, and not $release" >&2
  exit 1
fi

# The package: the build's, or one with bindings for the Python.
suffix=$("$own" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
package=$build/python
if [ ! -e "$package/fad/_fad$suffix" ]; then
  package=$folder/bindings/python
  cmake -G Ninja -S "$root/python-bindings" -B "$folder/bindings" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$(read_cache CMAKE_CXX_COMPILER)" -DFAD_UNITY_BUILD=ON \
    -DLLVM_DIR="$(read_cache LLVM_DIR)" -DMLIR_DIR="$(read_cache MLIR_DIR)" \
    -Dfad_DIR="$build/lib/cmake/fad" -DPython_EXECUTABLE="$own" \
    -DSKBUILD_PROJECT_VERSION="$(read_cache CMAKE_PROJECT_VERSION)" >"$folder/bindings.log" 2>&1 &&
    cmake --build "$folder/bindings" >>"$folder/bindings.log" 2>&1 ||
    { tail -40 "$folder/bindings.log" >&2; exit 1; }
fi
ln -sfn "$package" "$folder/python"

# The extension, which the tests would all wait for.
PYTHONPATH=$package FAD_CACHE_DIR=$folder/cache "$own" -m fad.torch.eager
tests=()
for name in activations backend budget explain features inductor inductor-memory layers new-nodes \
  packing partitioner peak plan-types programs; do
  tests+=("$build/test/python/compile/$name.test")
done
for name in bits contexts deferred deferred-nest forward garbage in-place interoperation kernels \
  kept mixed nest random saved-memory trace within; do
  tests+=("$build/test/python/eager/$name.test")
done
tests+=("$build/test/python/saved-memory.test")
echo "PyTorch $("$own" -c 'import torch; print(torch.__version__)'), $("$own" --version)"
"$(read_cache FAD_TEST_PYTHON)" "$(read_cache FAD_LIT)" -sv --param environment="$folder" "${tests[@]}"
