// RUN: %check-rule %s

// VALUE: negf(x) = -x
// RANGE: x in [-1e30, 1e30]
// AT: nan -> -1
// AT: inf -> -1
func.func @negf(%x: f32) -> f32 {
  %y = arith.negf %x : f32
  return %y : f32
}
