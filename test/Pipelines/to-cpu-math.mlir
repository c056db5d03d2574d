// RUN: %python %S/../Codegen/Inputs/check_values.py fad-opt %llvm_tools_dir %mlir_lib_dir %cxx %s

// Each math operation on the host against mpmath: libm, not the approximations
// that LLVM has of some, and narrow types by way of f32.

// VALUE: acos = acos(x)
// RANGE: [-1, 1]
// AT: 1.5 -> nan
func.func @acos(%x: f32) -> f32 {
  %y = math.acos %x : f32
  return %y : f32
}

// VALUE: acosh = acosh(x)
// RANGE: [1, 1e30]
// AT: 0.5 -> nan
// AT: inf -> inf
func.func @acosh(%x: f32) -> f32 {
  %y = math.acosh %x : f32
  return %y : f32
}

// VALUE: asin = asin(x)
// RANGE: [-1, 1]
func.func @asin(%x: f32) -> f32 {
  %y = math.asin %x : f32
  return %y : f32
}

// VALUE: asinh = asinh(x)
// RANGE: [-1e30, 1e30]
// AT: -inf -> -inf
func.func @asinh(%x: f32) -> f32 {
  %y = math.asinh %x : f32
  return %y : f32
}

// VALUE: atan = atan(x)
// RANGE: [-1e30, 1e30]
func.func @atan(%x: f32) -> f32 {
  %y = math.atan %x : f32
  return %y : f32
}

// VALUE: atanh = atanh(x)
// RANGE: [-0.999, 0.999]
// AT: 1 -> inf
// AT: 2 -> nan
func.func @atanh(%x: f32) -> f32 {
  %y = math.atanh %x : f32
  return %y : f32
}

// VALUE: cbrt = cbrt(x) if x >= 0 else -cbrt(-x)
// RANGE: [-1e30, 1e30]
// AT: -inf -> -inf
func.func @cbrt(%x: f32) -> f32 {
  %y = math.cbrt %x : f32
  return %y : f32
}

// VALUE: ceil = ceil(x)
// BOUND: 0
// RANGE: [-1e30, 1e30]
// AT: inf -> inf
func.func @ceil(%x: f32) -> f32 {
  %y = math.ceil %x : f32
  return %y : f32
}

// VALUE: cos = cos(x)
// RANGE: [-1e6, 1e6]
// AT: inf -> nan
func.func @cos(%x: f32) -> f32 {
  %y = math.cos %x : f32
  return %y : f32
}

// VALUE: cosh = cosh(x)
// RANGE: [-80, 80]
// AT: -inf -> inf
func.func @cosh(%x: f32) -> f32 {
  %y = math.cosh %x : f32
  return %y : f32
}

// VALUE: erf = erf(x)
// AT: inf -> 1
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// VALUE: erfc = erfc(x)
// RANGE: [-100, 100]
// AT: inf -> 0
// AT: -inf -> 2
func.func @erfc(%x: f32) -> f32 {
  %y = math.erfc %x : f32
  return %y : f32
}

// VALUE: exp = exp(x)
// RANGE: [-1000, 80]
// AT: inf -> inf
// AT: -inf -> 0
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// VALUE: exp2 = 2**x
// RANGE: [-1000, 120]
// AT: inf -> inf
// AT: -inf -> 0
func.func @exp2(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}

// VALUE: expm1 = expm1(x)
// RANGE: [-1000, 80]
// AT: inf -> inf
// AT: -inf -> -1
func.func @expm1(%x: f32) -> f32 {
  %y = math.expm1 %x : f32
  return %y : f32
}

// VALUE: floor = floor(x)
// BOUND: 0
// RANGE: [-1e30, 1e30]
func.func @floor(%x: f32) -> f32 {
  %y = math.floor %x : f32
  return %y : f32
}

// VALUE: log = log(x)
// RANGE: [1e-40, 1e30]
// AT: 0 -> -inf
// AT: -1 -> nan
// AT: inf -> inf
func.func @log(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// VALUE: log10 = log10(x)
// RANGE: [1e-40, 1e30]
// AT: 0 -> -inf
// AT: -1 -> nan
func.func @log10(%x: f32) -> f32 {
  %y = math.log10 %x : f32
  return %y : f32
}

// VALUE: log1p = log1p(x)
// RANGE: [-0.999, 1e30]
// AT: -1 -> -inf
// AT: -2 -> nan
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}

// VALUE: log2 = log(x, 2)
// RANGE: [1e-40, 1e30]
// AT: 0 -> -inf
// AT: -1 -> nan
func.func @log2(%x: f32) -> f32 {
  %y = math.log2 %x : f32
  return %y : f32
}

// VALUE: round = sign(x) * floor(abs(x) + mpf(0.5))
// BOUND: 0
// RANGE: [-1e30, 1e30]
// AT: 2.5 -> 3
// AT: -2.5 -> -3
func.func @round(%x: f32) -> f32 {
  %y = math.round %x : f32
  return %y : f32
}

// VALUE: roundeven = nint(x)
// BOUND: 0
// RANGE: [-1e30, 1e30]
// AT: 2.5 -> 2
// AT: -3.5 -> -4
func.func @roundeven(%x: f32) -> f32 {
  %y = math.roundeven %x : f32
  return %y : f32
}

// VALUE: rsqrt = 1 / sqrt(x)
// RANGE: [1e-40, 1e30]
// AT: 0 -> inf
// AT: inf -> 0
// AT: -1 -> nan
func.func @rsqrt(%x: f32) -> f32 {
  %y = math.rsqrt %x : f32
  return %y : f32
}

// VALUE: sin = sin(x)
// RANGE: [-1e6, 1e6]
// AT: inf -> nan
func.func @sin(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

// VALUE: sinh = sinh(x)
// RANGE: [-80, 80]
// AT: -inf -> -inf
func.func @sinh(%x: f32) -> f32 {
  %y = math.sinh %x : f32
  return %y : f32
}

// VALUE: sqrt = sqrt(x)
// BOUND: 0.51
// RANGE: [0, 1e30]
// AT: inf -> inf
// AT: -1 -> nan
func.func @sqrt(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  return %y : f32
}

// VALUE: tan = tan(x)
// RANGE: [-1e4, 1e4]
// AT: inf -> nan
func.func @tan(%x: f32) -> f32 {
  %y = math.tan %x : f32
  return %y : f32
}

// VALUE: tanh = tanh(x)
// AT: inf -> 1
// AT: -inf -> -1
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// VALUE: trunc = sign(x) * floor(abs(x))
// BOUND: 0
// RANGE: [-1e30, 1e30]
func.func @trunc(%x: f32) -> f32 {
  %y = math.trunc %x : f32
  return %y : f32
}

// VALUE: absf = abs(x)
// BOUND: 0
// RANGE: [-1e30, 1e30]
// AT: -inf -> inf
func.func @absf(%x: f32) -> f32 {
  %y = math.absf %x : f32
  return %y : f32
}

// VALUE: copysign = abs(x) * (1 if x > 0 else -1)
// BOUND: 0
// RANGE: [1e-30, 1e30]
func.func @copysign(%x: f32) -> f32 {
  %a = math.absf %x : f32
  %y = math.copysign %a, %x : f32
  return %y : f32
}

// VALUE: fma = x * x + 1
// BOUND: 0.51
// RANGE: [-200, 200]
func.func @fma(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %y = math.fma %x, %x, %one : f32
  return %y : f32
}

// VALUE: powf = x**1.5
// RANGE: [0, 1000]
// AT: -1 -> nan
func.func @powf(%x: f32) -> f32 {
  %e = arith.constant 1.5 : f32
  %y = math.powf %x, %e : f32
  return %y : f32
}

// VALUE: fpowi = x**3
// RANGE: [-30, 30]
// AT: inf -> inf
// AT: -inf -> -inf
func.func @fpowi(%x: f32) -> f32 {
  %e = arith.constant 3 : i32
  %y = math.fpowi %x, %e : f32, i32
  return %y : f32
}

// The largest error of the sine and of the cosine are at different points, so
// the sum would not show it.
// VALUE: sincos = sin(x) if x > 0 else cos(x)
// RANGE: [-1000, 1000]
func.func @sincos(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %sin, %cos = math.sincos %x : f32
  %positive = arith.cmpf ogt, %x, %zero : f32
  %y = arith.select %positive, %sin, %cos : f32
  return %y : f32
}

// VALUE: remainder = x - 3 * sign(x) * floor(abs(x) / 3)
// BOUND: 0
// RANGE: [-1e6, 1e6]
func.func @remainder(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %y = arith.remf %x, %three : f32
  return %y : f32
}
