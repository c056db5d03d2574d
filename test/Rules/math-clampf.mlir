// RUN: %check-rule %s

// LLVM 22 documents and expands the operation as
// maximumf(minimumf(value, min), max), so the first bound is the upper one. Bounds
// are inclusive: at a bound, the derivative goes to the value.

// VALUE: clampf(x, a, b) = max(min(x, a), b)
// RANGE: x in [-10, 10], a in [-8, 8], b in [-9, 9]
// AT: 0.5, 1, 0 -> 1, 0, 0
// AT: 1, 1, 0 -> 1, 0, 0
// AT: 0, 1, 0 -> 1, 0, 0
// AT: 1, 1, 1 -> 1, 0, 0
// AT: 2, 1, 1 -> 0, 1, 0
// AT: 0, 1, 1 -> 0, 0, 1
// AT: 5, 0, 1 -> 0, 0, 1
// AT: inf, 1, 0 -> 0, 1, 0
// AT: -inf, 1, 0 -> 0, 0, 1
// AT: nan, 1, 0 -> 0, 0, 0
func.func @clampf(%x: f32, %a: f32, %b: f32) -> f32 {
  %z = math.clampf %x to [%a, %b] : f32
  return %z : f32
}
