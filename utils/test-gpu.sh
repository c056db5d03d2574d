#!/bin/sh
# Tests fad on a machine with an NVIDIA GPU: from a kit of utils/pack-compile-kit.py, with PyTorch
# and the kit's fad or a wheel, and no LLVM. Options are those of gpu_checks.py.
here=$(CDPATH= cd -- "$(dirname "$0")" && pwd)
[ -f "$here/gpu_checks.py" ] || here=$here/../test/GPUKit/checks
exec "${PYTHON:-python3}" "$here/gpu_checks.py" "$@"
