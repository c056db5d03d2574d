#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs the main job over
# examples/ffn. Arguments go to examples/ffn/run.py.
source "$(dirname "$0")/setup.sh"

set_up
step "Main job" "$python" examples/ffn/run.py --tools build/bin \
  --out build/ffn "$@"
