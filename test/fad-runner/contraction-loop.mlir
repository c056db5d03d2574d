// A product in a loop leaves nothing on the stack: a hundred thousand calls of a
// library return. The spectral radius of the matrix is 1, so nothing vanishes.

// RUN: env FAD_OPT_LEVEL=3 fad-runner %s --arg=100000 --arg=0.03125 --arg=1 --contractions=library \
// RUN:   | FileCheck %s
// RUN: not fad-opt %s -fad-to-cpu=contractions=blas 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not fad-runner %s --contractions=blas 2>&1 | FileCheck %s --check-prefix=VALUE
// CHECK: 1
// VALUE: 'blas' is none of its values: auto, library, loops

func.func @power(%n: index, %a: tensor<32x32xf32>, %x: tensor<32x32xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<32x32xf32> {
    %empty = tensor.empty() : tensor<32x32xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
    %product = linalg.matmul ins(%a, %y : tensor<32x32xf32>, tensor<32x32xf32>)
        outs(%fill : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %product : tensor<32x32xf32>
  }
  %first = tensor.extract %r[%c0, %c0] : tensor<32x32xf32>
  return %first : f32
}
