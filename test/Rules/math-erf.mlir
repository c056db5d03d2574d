// RUN: %check-rule %s

// The rounding error of x^2, which exp would magnify, is made up for. Where the
// derivative rounds to zero, zero is a constant.

// VALUE: erf(x) = erf(x)
// RANGE: x in [-4, 4]
// RANGE: x in [-12, 12]
// RANGE f64: x in [-30, 30]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 2/sqrt(pi)
// AT: 1e30 -> 0
// AT: -1e30 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}
