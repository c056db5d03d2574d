// RUN: %check-rule %s

// VALUE: subf(x, y) = x - y
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: inf, nan -> 1, -1
func.func @subf(%x: f32, %y: f32) -> f32 {
  %z = arith.subf %x, %y : f32
  return %z : f32
}
