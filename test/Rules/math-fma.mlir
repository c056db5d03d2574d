// RUN: %check-rule %s

// VALUE: fma(x, y, z) = x * y + z
// RANGE: x in [-10, 10], y in [-10, 10], z in [-10, 10]
// AT: inf, 0, nan -> 0, inf, 1
// AT: nan, 2, 1 -> 2, nan, 1
func.func @fma(%x: f32, %y: f32, %z: f32) -> f32 {
  %r = math.fma %x, %y, %z : f32
  return %r : f32
}
