// RUN: fad-opt %s --fad-select-residuals="policy=auto assumed-size=0" -verify-diagnostics
// RUN: not fad-opt %s --fad-select-residuals="policy=auto recompute=some" 2>&1 | FileCheck %s
// CHECK: 'some' is none of its values: nothing, elementwise, reductions, all, contractions

// expected-error @+1 {{assumed-size is 0; give a size of at least 1}}
func.func @joint(%x: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  %y = arith.mulf %x, %x : tensor<?xf32>
  %d = arith.mulf %x, %g : tensor<?xf32>
  return %y, %d : tensor<?xf32>, tensor<?xf32>
}
