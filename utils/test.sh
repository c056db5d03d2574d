#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs its tests. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 when none failed.
source "$(dirname "$0")/setup.sh"

results=$PWD/build/test/results.json

run_tests() {
  rm -f "$results"
  # The summary decides on success; it needs the results, not the status.
  LIT_OPTS="${LIT_OPTS:-} --output $results" cmake --build build \
    --target check-fad || [ -f "$results" ]
}

set_up
step "Test" run_tests
"$python" utils/summarize-lit.py "$results"
