// RUN: fad-opt %s --fad-split --split-input-file --verify-diagnostics

// expected-error @below {{backward reads argument 0 of the forward function other than through fad.residual; run fad-select-residuals before fad-split}}
func.func @f_joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %gx = arith.mulf %g, %x : tensor<4xf32>
  return %x, %gx : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @h_backward()
// expected-error @below {{cannot create @h_backward: the module has a symbol of that name; rename it}}
func.func @h_joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{cannot split @k_joint: other operations refer to it; split a copy, or inline the calls first (--inline)}}
func.func @k_joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = call @k_joint(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

func.func @m_joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'fad.residual' op is on the host, and no pass of fad copies it there and back; remove 'on host'}}
  %r = fad.residual %x on host needed_by [] reason "argument" : tensor<4xf32>
  %gx = arith.mulf %g, %r : tensor<4xf32>
  return %x, %gx : tensor<4xf32>, tensor<4xf32>
}
