// RUN: %check-rule %s

// Like absf, the derivative is 0 where x is 0 or NaN.

// VALUE: copysign(x, y) = abs(x) * sign(y)
// RANGE: x in [-10, 10], y in [-10, 10]
// AT: 2, -0.0 -> -1, 0
// AT: -2, -3 -> 1, 0
// AT: 0, 1 -> 0, 0
// AT: -0.0, 1 -> 0, 0
// AT: inf, -1 -> -1, 0
// AT: nan, 1 -> 0, 0
// PASSES: --convert-math-to-llvm
func.func @copysign(%x: f32, %y: f32) -> f32 {
  %z = math.copysign %x, %y : f32
  return %z : f32
}
