// RUN: fad-opt %s -fad-legalize-for-iree -split-input-file -verify-diagnostics

func.func @f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error@+1 {{'math.erfc' op on f64 has no counterpart in IREE; compute it in f32}}
  %0 = math.erfc %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @complex(%x: complex<f32>, %to: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'tensor.insert' op writes to an argument of type 'tensor<4xcomplex<f32>>', which IREE would do in place; pass floats or signless integers}}
  %0 = tensor.insert %x into %to[%c0] : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
