// RUN: fad-opt %s --fad-differentiate --split-input-file --verify-diagnostics

func.func @negative_border(%x: tensor<4xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'tensor.pad' op pads by -1, a negative number, which has no reverse rule; cut elements off with tensor.extract_slice, as --fad-normalize does}}
  %0 = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @unranked(%x: tensor<4xf32>, %s: tensor<?xindex>) -> tensor<2x2xf32> {
  %0 = tensor.reshape %x(%s) : (tensor<4xf32>, tensor<?xindex>) -> tensor<*xf32>
  // expected-error @below {{'tensor.cast' op reads 'tensor<*xf32>' on the path that is differentiated, but only f16, bf16, f32 and f64, and ranked tensors of them, have gradients}}
  %1 = tensor.cast %0 : tensor<*xf32> to tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

func.func @bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  // expected-error @below {{'tensor.bitcast' op reads 'tensor<4xi32>' on the path that is differentiated, but only f16, bf16, f32 and f64, and ranked tensors of them, have gradients}}
  %1 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A border that is computed is for fad-normalize.
func.func @border(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<5xf32> {
  %b = tensor.extract %v[] : tensor<f32>
  %0 = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    // expected-error @below {{reads 'f32' on the path that is differentiated from inside 'tensor.pad'}}
    tensor.yield %b : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %0 : tensor<5xf32>
}
