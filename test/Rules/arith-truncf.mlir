// RUN: %check-rule %s

// The tangent is rounded with the value, but to f32 where that is f16 or bf16.

// VALUE: half(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e4, 1e4]
// AT: 1e5 -> inf
// AT: nan -> nan
func.func @half(%x: f32) -> f16 {
  %s = arith.mulf %x, %x : f32
  %y = arith.truncf %s : f32 to f16
  return %y : f16
}

// VALUE: single(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: 1e300 -> inf
// AT: 0 -> 0
func.func @single(%x: f64) -> f32 {
  %s = arith.mulf %x, %x : f64
  %y = arith.truncf %s : f64 to f32
  return %y : f32
}

// VALUE: chain(x) = x * x
// TYPES: fixed
// AT: 1.5 -> 3
// AT: -inf -> -inf
func.func @chain(%x: f64) -> f64 {
  %t = arith.truncf %x : f64 to bf16
  %s = arith.mulf %t, %t : bf16
  %y = arith.extf %s : bf16 to f64
  return %y : f64
}
