#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs its tests. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 when none failed. A test
# that did not run has failed. With LIT_NUM_SHARDS=2 and LIT_RUN_SHARD=1 in the
# environment, lit runs the first half of the tests, as of any other number of parts. With
# FAD_TEST_BASE, a commit, tests are left out that no path can affect which has changed since
# (test/groups.py).
#
# Usage: test.sh [--light | --sanitize | --nightly]
#
# --light, or FAD_TEST_LIGHT=1 in the environment, installs nothing from PyPI
# (PyTorch, torch-mlir, IREE, ...); the tests that need it are skipped.
# --sanitize builds three programs with sanitizers instead, in the folder
# build-sanitize/, and runs the tests that need no other; nothing is installed from PyPI.
# --nightly runs all tests, and what takes minutes, too, as the target check-fad-nightly does.
source "$(dirname "$0")/setup.sh"

build=build
nightly=0
python_packages=install
if [ "${FAD_TEST_LIGHT:-0}" != 0 ]; then
  python_packages=leave
fi
usage() {
  echo "usage: $0 [--light | --sanitize | --nightly]" >&2
  exit 2
}

[ $# -le 1 ] || usage
for option; do
  case $option in
  --light) python_packages=leave ;;
  --nightly) nightly=1 ;;
  --sanitize)
    python_packages=leave
    build=build-sanitize
    ;;
  *) usage ;;
  esac
done

# Its completion is tested.
packages+=(zsh)
# Few passes take time; their compilation does, a fifth of it for more optimizations than these.
build_options=("-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
if [ $build = build ]; then
  set_up all fad-test-depends
else
  prepare
  step "Configure with sanitizers" configure sanitize
  step "Build" cmake --build $build --target fad-test-depends
fi
if [ $nightly = 1 ]; then
  if [ "$python_packages" != leave ]; then
    step "Install Python packages of nightly tests" "$python" -m pip install \
      --no-compile --requirement utils/requirements-nightly.txt
    step "Install trainers of nightly tests" "$python" -m pip install --no-deps \
      --requirement utils/requirements-trainers.txt
  fi
  exec cmake --build build --target check-fad-nightly
fi
printf '\n==> Test\n'
if [ "$python_packages" = leave ]; then
  echo "nothing from PyPI is used; the tests that need it are skipped"
fi
parameters=()
if [ -n "${FAD_TEST_BASE:-}" ] &&
  git -c safe.directory="$PWD" diff --name-only --no-renames "$FAD_TEST_BASE...HEAD" \
    >$build/test/changed.txt; then
  parameters=(--param "changed=$PWD/$build/test/changed.txt")
fi
# A test that waits for another, or for a file, leaves its processor to one more.
# In this process's place, for signals to reach it.
lit=$(sed -n 's/^FAD_LIT:FILEPATH=//p' $build/CMakeCache.txt)
exec "$python" utils/run-lit.py $build/test/results.json \
  "$python" "$lit" -sv -j $(($(nproc) + 1)) "${parameters[@]}" $build/test
