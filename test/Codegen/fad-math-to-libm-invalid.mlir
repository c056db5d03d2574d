// RUN: fad-opt %s -split-input-file -fad-math-to-libm -verify-diagnostics

// expected-error @+1 {{@tanh has the name of a function of libc or libm that compiled code calls; rename it}}
func.func @tanh(%x: f64) -> f64 {
  %0 = math.tanh %x : f64
  return %0 : f64
}

// -----

// expected-error @+1 {{@expf has the name of a function of libc or libm that compiled code calls; rename it}}
func.func private @expf(tensor<4xf32>) -> tensor<4xf32>

func.func @caller(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

// Called where memory is allocated.
// expected-error @+1 {{@malloc has the name of a function of libc or libm that compiled code calls; rename it}}
func.func @malloc(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @downward(%x: f32) -> bf16 {
  // expected-error @+1 {{there are no instructions that round 'f32' to 'bf16' by 'downward'; leave it out, or set to_nearest_even}}
  %0 = arith.truncf %x downward : f32 to bf16
  return %0 : bf16
}

// -----

// Only bf16 is made of integers.
func.func @away(%x: vector<4xf64>) -> vector<4xf32> {
  // expected-error @+1 {{there are no instructions that round 'f64' to 'f32' by 'to_nearest_away'; leave it out, or set to_nearest_even}}
  %0 = arith.truncf %x to_nearest_away : vector<4xf64> to vector<4xf32>
  return %0 : vector<4xf32>
}
