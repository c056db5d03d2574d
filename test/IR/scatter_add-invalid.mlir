// RUN: fad-opt %s -split-input-file -verify-diagnostics

func.func @no_indices(%u: tensor<4xf32>, %init: tensor<4xf32>) {
  // expected-error @+1 {{expects at least one tensor of indices}}
  %r = fad.scatter_add %u at () dims [] into %init : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @number_of_dims(%u: tensor<4xf32>, %i: tensor<4xi64>, %init: tensor<4x4xf32>) {
  // expected-error @+1 {{expects one dimension for each of its 1 tensors of indices, but 'dims' has 2}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [0, 1] into %init : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @dims_order(%u: tensor<4xf32>, %i: tensor<4xi64>, %init: tensor<4x4xf32>) {
  // expected-error @+1 {{expects 'dims' to be increasing and between 0 and the rank of the result, 2, but got [1, 0]}}
  %r = fad.scatter_add %u at (%i, %i : tensor<4xi64>, tensor<4xi64>) dims [1, 0] into %init : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @dims_range(%u: tensor<4xf32>, %i: tensor<4xi64>, %init: tensor<4xf32>) {
  // expected-error @+1 {{expects 'dims' to be increasing and between 0 and the rank of the result, 1, but got [1]}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [1] into %init : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @dims_sign(%u: tensor<4xf32>, %i: tensor<4xi64>, %init: tensor<4xf32>) {
  // expected-error @+1 {{expects 'dims' to be increasing and between 0 and the rank of the result, 1, but got [-1]}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [-1] into %init : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @shapes_of_indices(%u: tensor<4xf32>, %i: tensor<4xi64>, %j: tensor<5xi64>, %init: tensor<4x4xf32>) {
  // expected-error @+1 {{expects all tensors of indices to have one shape}}
  %r = fad.scatter_add %u at (%i, %j : tensor<4xi64>, tensor<5xi64>) dims [0, 1] into %init : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @shape_of_updates(%u: tensor<4x16x1xf32>, %i: tensor<4xi64>, %init: tensor<50x16xf32>) {
  // expected-error @+1 {{expects updates of type 'tensor<4x16xf32>' (the shape of the indices, then the dimensions of the result that are not in 'dims'), but got 'tensor<4x16x1xf32>'}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [0] into %init : tensor<4x16x1xf32> -> tensor<50x16xf32>
  return
}

// -----

func.func @element_types(%u: tensor<4xf32>, %i: tensor<4xi64>, %init: tensor<4xf64>) {
  // expected-error @+1 {{failed to verify that all of {updates, init} have same element type}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [0] into %init : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @integers(%u: tensor<4xi32>, %i: tensor<4xi64>, %init: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be a ranked tensor of f16, bf16, f32 or f64, but got 'tensor<4xi32>'}}
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [0] into %init : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @indices_of_floats(%u: tensor<4xf32>, %init: tensor<4xf32>) {
  // expected-error @+1 {{operand #2 must be variadic of a ranked tensor of i8, i16, i32, i64 or index, but got 'tensor<4xf32>'}}
  %r = fad.scatter_add %u at (%u : tensor<4xf32>) dims [0] into %init : tensor<4xf32> -> tensor<4xf32>
  return
}
