// RUN: fad-opt %s -split-input-file -fad-to-cpu -verify-diagnostics

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{op was not bufferized}}
  %0 = math.exp %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// expected-error @+1 {{@sqrtf has the name of a function of libc or libm that compiled code calls; rename it}}
func.func @sqrtf(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sqrt %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
