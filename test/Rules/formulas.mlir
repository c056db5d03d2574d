// Functions without an operation, as formulas of arith and math: the derivative
// is that of the function.

// RUN: %check-rule %s

// VALUE: hypot(x, y) = sqrt(x*x + y*y)
// TYPES: f64 f32
// RANGE: x in [-100, 100], y in [0.5, 99]
// AT: 3, 4 -> 0.6, 0.8
// AT: 0, 0 -> nan, nan
func.func @hypot(%x: f32, %y: f32) -> f32 {
  %xx = arith.mulf %x, %x : f32
  %yy = arith.mulf %y, %y : f32
  %s = arith.addf %xx, %yy : f32
  %r = math.sqrt %s : f32
  return %r : f32
}

// Stirling's series, where four terms of it suffice.

// VALUE: lgamma(x) = loggamma(x)
// TYPES: f32
// RANGE: x in [9, 99]
// BOUND: 8
func.func @lgamma(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %log2pi = arith.constant 0.918938533204672742 : f32
  %c0 = arith.constant 0.0833333333333333333 : f32
  %c1 = arith.constant -0.00277777777777777778 : f32
  %c2 = arith.constant 0.000793650793650793651 : f32
  %c3 = arith.constant -0.000595238095238095238 : f32
  %z = arith.divf %one, %x : f32
  %zz = arith.mulf %z, %z : f32
  %p2 = math.fma %zz, %c3, %c2 : f32
  %p1 = math.fma %zz, %p2, %c1 : f32
  %p0 = math.fma %zz, %p1, %c0 : f32
  %tail = arith.mulf %z, %p0 : f32
  %log = math.log %x : f32
  %shifted = arith.subf %x, %half : f32
  %product = arith.mulf %shifted, %log : f32
  %head = arith.subf %product, %x : f32
  %more = arith.addf %head, %log2pi : f32
  %r = arith.addf %more, %tail : f32
  return %r : f32
}
