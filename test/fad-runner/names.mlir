// Functions with names such as those of compiled code's own.

// RUN: fad-runner %s --entry=_mlir_f --arg=2 | FileCheck %s
// CHECK: out0: tensor<2xf32> = [6, 6]

func.func @_mlir_f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = func.call @_mlir_g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = arith.addf %x, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}

func.func @_mlir_g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
