// RUN: fad-opt %s --fad-select-residuals --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-split --split-input-file --verify-diagnostics

// What a joint function from elsewhere can have wrong; both passes that read
// one check it.

// expected-error @below {{is marked as the cotangent of result 5, but the primal function has 1 results; results count without gradients}}
func.func @no_such_result(%g: tensor<4xf32> {fad.cotangent = 5 : i64}, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{is marked as the cotangent of result 0, but has the type 'tensor<f32>', which does not fit 'tensor<?xf32>'; results count without gradients}}
func.func @other_shape(%x: tensor<?xf32>, %g: tensor<f32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  return %x, %x : tensor<?xf32>, tensor<?xf32>
}

// -----

// expected-error @below {{result 1 is marked as the gradient of argument 9, but the primal function has 1 arguments; arguments count without cotangents}}
func.func @no_such_argument(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 9 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 1 depends on a cotangent; mark it with fad.gradient if it is a gradient}}
func.func @unmarked(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  %h = arith.negf %g : tensor<4xf32>
  return %x, %h : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 0 is marked with fad.residual, which belongs on results of a forward function; remove it}}
func.func @residual_result(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32> {fad.residual}, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @residual_of_cotangent(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'fad.residual' op depends on a cotangent; only values of the forward part cross to backward}}
  %r = fad.residual %g needed_by [] reason "read by an adjoint" : tensor<4xf32>
  return %x, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{has cotangents and several blocks; a joint function has one: express its control flow with scf}}
func.func @blocks(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  cf.br ^bb1
^bb1:
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @unreachable(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'ub.unreachable' op ends a joint function; only func.return can}}
  ub.unreachable
}

// -----

func.func @two_cotangents(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64},
    // expected-error @below {{argument 2 is marked as the cotangent of result 0, as argument 1 is; mark one argument for each result}}
    %h: tensor<4xf32> {fad.cotangent = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 2 is marked as the gradient of argument 0, as result 1 is; mark one result for each argument}}
func.func @two_gradients(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 1 is marked as the gradient of argument 0, but has the type 'tensor<4xf32>', which does not fit 'tensor<8xf32>'; arguments count without cotangents}}
func.func @gradient_of_another(%x: tensor<8xf32>, %y: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %y, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is marked with fad.gradient, which belongs on a result; mark a cotangent with fad.cotangent}}
func.func @gradient_comes_in(%x: tensor<4xf32> {fad.gradient = 0 : i64}, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 0 is marked with fad.cotangent, which belongs on an argument; mark a gradient with fad.gradient}}
func.func @cotangent_goes_out(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32> {fad.cotangent = 0 : i64}, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}
