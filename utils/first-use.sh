#!/usr/bin/env bash
# Seconds from nothing but Python to the first results of fad: a wheel is installed into a
# virtual environment of its own, a memory report is printed, PyTorch is installed, and a
# step of a model whose activations fad computes is made. No compiler and no LLVM is needed.
#
# Usage: first-use.sh [WHEEL [PYTHON]], by default the wheel of build-wheel.sh and python3.
# FAD_FIRST_USE_TORCH is what pip installs as PyTorch ("torch==2.13.*" by default; empty for none).
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/..")
wheel=$(realpath -e "${1:-$(ls "$root"/build/wheel/fad_mlir-*.whl)}")
python=${2:-python3}
torch=${FAD_FIRST_USE_TORCH-torch==2.13.*}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset PYTHONPATH

now() { date +%s.%N; }
start=$(now)
# took NAME: the time since the last call, and since the start.
took() {
  local time
  time=$(now)
  awk -v start="$start" -v last="$last" -v time="$time" -v name="$1" \
    'BEGIN { printf "%7.1f s %7.1f s  %s\n", time - last, time - start, name }'
  last=$(now)
}

cat >layer.mlir <<'END'
func.func @layer(%x: tensor<?x768xf32>, %w: tensor<768x3072xf32>) -> tensor<?x3072xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x768xf32>
  %empty = tensor.empty(%rows) : tensor<?x3072xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x768xf32>, tensor<768x3072xf32>)
    outs(%init : tensor<?x3072xf32>) -> tensor<?x3072xf32>
  %e = math.exp %h : tensor<?x3072xf32>
  %s = math.log1p %e : tensor<?x3072xf32>
  %t = math.tanh %s : tensor<?x3072xf32>
  %y = arith.mulf %h, %t : tensor<?x3072xf32>
  return %y : tensor<?x3072xf32>
}
END
cat >step.py <<'END'
import torch
from torch import nn

import fad.torch

model = nn.Sequential(nn.Linear(768, 3072), nn.Mish(), nn.Linear(3072, 768))
x, target = torch.randn(128, 768), torch.randn(128, 768)
nn.functional.mse_loss(model(x), target).backward()
expected = [parameter.grad.clone() for parameter in model.parameters()]
model.zero_grad()
fad.torch.convert(model)
nn.functional.mse_loss(model(x), target).backward()
for parameter, gradient in zip(model.parameters(), expected):
    torch.testing.assert_close(parameter.grad, gradient)
print("gradients of", len(expected), "parameters are PyTorch's")
END

last=$start
printf '%9s %9s\n' "this step" "since 0"
"$python" -m venv env
took "a virtual environment"
env/bin/pip install --quiet "$wheel"
took "pip install $(basename "$wheel")"
env/bin/fad-memory-report layer.mlir --size=128 >report
took "the first memory report"
head -6 report
if [ -n "$torch" ]; then
  # Quotes would make one argument of several.
  env/bin/pip install --quiet $torch
  took "pip install $torch"
  env/bin/python step.py
  took "the first step of PyTorch"
fi
