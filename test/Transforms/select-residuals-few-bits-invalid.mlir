// RUN: fad-opt %s --fad-select-residuals="policy=auto derivative-bits=9" -verify-diagnostics
// RUN: not fad-opt %s --fad-select-residuals="policy=auto derivative-bits=-1" 2>&1 | FileCheck %s
// CHECK: few-bits-invalid.mlir:[[#@LINE+3]]:1: error: derivative-bits is -1; give 1 to 8 bits, or 0 to keep derivatives exactly

// expected-error @+1 {{derivative-bits is 9; give 1 to 8 bits, or 0 to keep derivatives exactly}}
func.func @joint(%x: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  %y = arith.mulf %x, %x : tensor<?xf32>
  %d = arith.mulf %x, %g : tensor<?xf32>
  return %y, %d : tensor<?xf32>, tensor<?xf32>
}
