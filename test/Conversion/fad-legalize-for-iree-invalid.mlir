// RUN: fad-opt %s -fad-legalize-for-iree -verify-diagnostics

func.func @f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error@+1 {{'math.erfc' op on f64 has no counterpart in IREE; compute it in f32}}
  %0 = math.erfc %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
