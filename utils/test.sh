#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs its tests; then builds three
# programs with sanitizers and runs a sample of the tests. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 when none failed. A test
# that did not run has failed. With LIT_NUM_SHARDS=2 and LIT_RUN_SHARD=1 in the
# environment, lit runs the first half of the tests, as of any other number of parts.
#
# Usage: test.sh [--light]
#
# --light, or FAD_TEST_LIGHT=1 in the environment, installs nothing from PyPI
# (PyTorch, torch-mlir, IREE, ...); the tests that need it are skipped.
source "$(dirname "$0")/setup.sh"

python_packages=install
if [ "${FAD_TEST_LIGHT:-0}" != 0 ]; then
  python_packages=leave
fi
for option; do
  case $option in
  --light) python_packages=leave ;;
  *)
    echo "usage: $0 [--light]" >&2
    exit 2
    ;;
  esac
done

set_up
step "Build what tests need" cmake --build build --target fad-test-depends
step "Configure with sanitizers" configure sanitize
step "Build with sanitizers" \
  cmake --build build-sanitize --target fad-test-depends
printf '\n==> Test\n'
if [ "$python_packages" = leave ]; then
  echo "--light: nothing from PyPI is used; the tests that need it are skipped"
fi
# In this process's place, for signals to reach it.
lit=$(sed -n 's/^FAD_LIT:FILEPATH=//p' build/CMakeCache.txt)
exec "$python" utils/run-lit.py build/test/results.json \
  "$python" "$lit" -sv build/test build-sanitize/test
