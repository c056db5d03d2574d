// RUN: %check-rule %s

// VALUE: addf(x, y) = x + y
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: inf, nan -> 1, 1
func.func @addf(%x: f32, %y: f32) -> f32 {
  %z = arith.addf %x, %y : f32
  return %z : f32
}
