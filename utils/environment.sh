#!/usr/bin/env bash
# Prints the line that makes a build of fad usable in a shell: its tools, those of
# MLIR, and, where they are there, the Python package and the virtual environment of
# utils/test.sh. `eval "$(utils/environment.sh)"` has the effect.
#
# Usage: environment.sh [BUILD], the folder build of this checkout by default.
set -euo pipefail

build=$(realpath -e "${1:-$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../build}")
if [ ! -x "$build/bin/fad-opt" ]; then
  echo "environment.sh: there is no build in $build; utils/demo.sh makes one" >&2
  exit 1
fi
mlir=$(sed -n 's/^MLIR_DIR:PATH=//p' "$build/CMakeCache.txt")
# The stock mlir-opt is behind what the shell has already.
tools=$(realpath "$mlir/../../../bin")
path=$build/bin
if [ -x "$build/venv/bin/python3" ]; then
  path=$build/venv/bin:$path
fi
line="export PATH=$(printf %q "$path"):\"\$PATH\":$(printf %q "$tools") FAD_PLUGIN=$(printf %q "$build/lib/fad-plugin.so")"
if [ -d "$build/python/fad" ]; then
  line+=" PYTHONPATH=$(printf %q "$build/python")\${PYTHONPATH:+:\$PYTHONPATH}"
fi
echo "$line"
