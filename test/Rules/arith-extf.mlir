// RUN: %check-rule %s

// The tangent of f16 and bf16 is f32 already; from f32 to f64 it is extended.

// VALUE: narrow(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e4, 1e4]
// AT: inf -> inf
// AT: 1e-7 -> 2**-22
func.func @narrow(%x: f16) -> f32 {
  %e = arith.extf %x : f16 to f32
  %y = arith.mulf %e, %e : f32
  return %y : f32
}

// VALUE: wide(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: nan -> nan
func.func @wide(%x: f32) -> f64 {
  %e = arith.extf %x : f32 to f64
  %y = arith.mulf %e, %e : f64
  return %y : f64
}

// VALUE: brain(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: -inf -> -inf
func.func @brain(%x: bf16) -> f64 {
  %e = arith.extf %x : bf16 to f64
  %y = arith.mulf %e, %e : f64
  return %y : f64
}
