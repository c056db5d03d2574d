// RUN: %check-rule %s

// VALUE: log1p(x) = log1p(x)
// RANGE: x in [-0.99, 10]
// RANGE: x in [-0.99, 1e30]
// AT: 0 -> 1
// AT: -1 -> inf
// AT: -2 -> -1
// AT: inf -> 0
// AT: nan -> nan
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}
