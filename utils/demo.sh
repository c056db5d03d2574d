#!/usr/bin/env bash
# Installs what is missing, builds fad, and runs the main job over
# examples/ffn. Arguments go to examples/ffn/run.py. The last line is for the
# shell in which the tools are to be commands.
source "$(dirname "$0")/setup.sh"

set_up
step "Main job" "$python" examples/ffn/run.py --tools build/bin \
  --out build/ffn "$@"
environment=$(utils/environment.sh)
printf '\nFor a shell in which the tools are commands:\n\n%s\n' "$environment"
