// RUN: %python %S/Inputs/check_values.py fad-opt %llvm_tools_dir %mlir_lib_dir %cxx %s

// Values of what fad-approximate-math computes by arithmetic in fad-to-cpu, against
// mpmath; f64 goes to libm. What the comments mean is said in the script. The
// bounds are those that the pass states.

// VALUE: exp = exp(x)
// BOUND: 0.8
// AT: inf -> inf
// AT: -inf -> 0
// AT: 0 -> 1
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// VALUE: expm1 = expm1(x)
// BOUND: 1.5
// AT: inf -> inf
// AT: -inf -> -1
func.func @expm1(%x: f32) -> f32 {
  %y = math.expm1 %x : f32
  return %y : f32
}

// VALUE: log = log(x)
// BOUND: 1
// RANGE: [1e-40, 3.4e38]
// AT: inf -> inf
// AT: 0 -> -inf
// AT: -1 -> nan
// AT: -inf -> nan
func.func @log(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// VALUE: log1p = log1p(x)
// BOUND: 1.5
// RANGE: [-0.9999, 3.4e38]
// AT: inf -> inf
// AT: -1 -> -inf
// AT: -2 -> nan
// AT: -inf -> nan
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}

// VALUE: tanh = tanh(x)
// BOUND: 1.5
// AT: inf -> 1
// AT: -inf -> -1
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// VALUE: erf = erf(x)
// BOUND: 3
// AT: inf -> 1
// AT: -inf -> -1
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// VALUE: erfc = erfc(x)
// BOUND: 6
// AT: inf -> 0
// AT: -inf -> 2
func.func @erfc(%x: f32) -> f32 {
  %y = math.erfc %x : f32
  return %y : f32
}
