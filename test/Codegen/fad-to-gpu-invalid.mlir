// RUN: fad-opt %s -fad-to-gpu -split-input-file -verify-diagnostics

func.func @element(%x: tensor<4xf32>, %y: tensor<4xi4>) -> tensor<4xf32> {
  // expected-error @below {{'fad.elementwise' op cannot become a GPU kernel: operand 1 is of type 'i4'; convert it to f16, bf16, f32, f64, i1, i8, i16, i32, i64 or index first}}
  %0 = fad.elementwise ins(%x, %y : tensor<4xf32>, tensor<4xi4>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: i4):
    fad.yield %a : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @scalar(%x: tensor<4xf32>, %s: complex<f32>) -> tensor<4xf32> {
  // expected-error @below {{'fad.elementwise' op cannot become a GPU kernel: operand 1 is of type 'complex<f32>'; convert it to}}
  %0 = fad.elementwise ins(%x, %s : tensor<4xf32>, complex<f32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: complex<f32>):
    fad.yield %a : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf80> {
  // expected-error @below {{'fad.elementwise' op cannot become a GPU kernel: result 0 is of type 'f80'; convert it to}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf80> {
  ^bb0(%a: f32):
    %wide = arith.extf %a : f32 to f80
    fad.yield %wide : f80
  }
  return %0 : tensor<4xf80>
}

// -----

#sparse = #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>
func.func @encoding(%x: tensor<4xf32, #sparse>) -> tensor<4xf32> {
  // expected-error @below {{'fad.elementwise' op cannot become a GPU kernel: operand 0 has the encoding #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>; kernels read and write contiguous buffers}}
  %0 = fad.elementwise ins(%x : tensor<4xf32, #sparse>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    fad.yield %a : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{'arith.extf' op cannot be part of a GPU kernel: it has a result of type 'f128'; kernels compute with f16, bf16, f32, f64, index and integers of up to 64 bits}}
    %wide = arith.extf %a : f32 to f128
    %narrow = arith.truncf %wide : f128 to f32
    fad.yield %narrow : f32
  }
  return %0 : tensor<4xf32>
}
