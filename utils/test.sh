#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs its tests. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 when none failed.
#
# Usage: test.sh [--light]
#
# --light, or FAD_TEST_LIGHT=1 in the environment, installs nothing from PyPI
# (PyTorch, torch-mlir, IREE, ...); the tests that need it are skipped.
source "$(dirname "$0")/setup.sh"

results=$PWD/build/test/results.json

run_tests() {
  rm -f "$results"
  # The summary decides on success; it needs the results, not the status.
  LIT_OPTS="${LIT_OPTS:-} --output $results" cmake --build build \
    --target check-fad || [ -f "$results" ]
}

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
step "Test" run_tests
if [ "$python_packages" = leave ]; then
  echo "--light: nothing from PyPI was used; the tests that need it are skipped"
fi
"$python" utils/summarize-lit.py "$results"
