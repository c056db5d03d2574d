// An error is not followed by its operation, which may be the whole module.

// RUN: not fad-opt %s --fad-nest=entry=g 2>&1 | FileCheck %s --implicit-check-not=note:
// RUN: not fad-opt %s --fad-nest=entry=g --mlir-print-op-on-diagnostic 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NOTE

// CHECK: error: {{.*}}@g
// NOTE:  note: see current operation:

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.tanh %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
