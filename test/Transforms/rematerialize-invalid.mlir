// RUN: fad-opt %s --fad-rematerialize --verify-diagnostics

// expected-error @below {{there is no function @gone, which 'fad.pullback' names; add it, or remove the attribute}}
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {fad.residual})
    attributes {fad.pullback = @gone} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
