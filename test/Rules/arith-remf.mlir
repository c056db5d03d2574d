// RUN: %check-rule %s

// Where x / y rounds up to an integer, as 1 / 0.1 does, truncating the quotient
// would give a derivative that is off by one.

// VALUE: remf(x, y) = x - y * int(x / y)
// RANGE: x in [-99.3, 98.7], y in [0.31, 9.3]
// RANGE f64 f32: x in [-99991.3, 99997.1], y in [-9.7, -0.713]
// AT: 6, 2 -> 1, -3
// AT: -7, 2 -> 1, 3
// AT: 1, inf -> 1, 0
// AT: 1, 0 -> 1, nan
// AT: inf, 1 -> 1, nan
// AT: 1, nan -> 1, nan
// AT f64 f32 bf16: 1, 0.1 -> 1, -9
func.func @remf(%x: f32, %y: f32) -> f32 {
  %z = arith.remf %x, %y : f32
  return %z : f32
}
