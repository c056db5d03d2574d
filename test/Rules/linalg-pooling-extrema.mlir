// Every pooling by maximum or minimum, in windows that overlap, have gaps, or
// meet, against differences in f64; the unsigned ones are of integers, which
// have no gradient.

// DEFINE: %{entry} =
// DEFINE: %{check} = fad-runner %s --entry=%{entry} --check-gradients

// REDEFINE: %{entry} = nhwc_max
// RUN: %{check}
func.func @nhwc_max(%x: tensor<1x6x6x2xf16>, %init: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
  %k = tensor.empty() : tensor<2x2xf16>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<1x6x6x2xf16>, tensor<2x2xf16>) outs(%init : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %r : tensor<1x3x3x2xf32>
}

// REDEFINE: %{entry} = nhwc_min
// RUN: %{check}
func.func @nhwc_min(%x: tensor<2x6x7x3xf32>, %init: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32> {
  %k = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nhwc_min {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<2x6x7x3xf32>, tensor<3x3xf32>) outs(%init : tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %r : tensor<2x4x5x3xf32>
}

// REDEFINE: %{entry} = nchw_max
// RUN: %{check} --size=7
// RUN: %{check} --size=3
func.func @nchw_max(%x: tensor<2x3x?x?xf64>, %init: tensor<2x3x?x?xf64>) -> tensor<2x3x?x?xf64> {
  %k = tensor.empty() : tensor<2x2xf64>
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %h = tensor.dim %x, %c2 : tensor<2x3x?x?xf64>
  %w = tensor.dim %x, %c3 : tensor<2x3x?x?xf64>
  %oh = affine.apply affine_map<()[s0] -> ((s0 - 3) floordiv 2 + 1)>()[%h]
  %ow = affine.apply affine_map<()[s0] -> ((s0 - 3) floordiv 2 + 1)>()[%w]
  %o = tensor.extract_slice %init[0, 0, 0, 0] [2, 3, %oh, %ow] [1, 1, 1, 1] : tensor<2x3x?x?xf64> to tensor<2x3x?x?xf64>
  %r = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}
      ins(%x, %k : tensor<2x3x?x?xf64>, tensor<2x2xf64>) outs(%o : tensor<2x3x?x?xf64>) -> tensor<2x3x?x?xf64>
  return %r : tensor<2x3x?x?xf64>
}

// REDEFINE: %{entry} = nwc_max
// RUN: %{check}
func.func @nwc_max(%x: tensor<2x9x3xf64>, %init: tensor<2x4x3xf64>) -> tensor<2x4x3xf64> {
  %k = tensor.empty() : tensor<3xf64>
  %r = linalg.pooling_nwc_max {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%x, %k : tensor<2x9x3xf64>, tensor<3xf64>) outs(%init : tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
  return %r : tensor<2x4x3xf64>
}

// REDEFINE: %{entry} = nwc_min
// RUN: %{check}
func.func @nwc_min(%x: tensor<2x9x3xf64>, %init: tensor<2x1x3xf64>) -> tensor<2x1x3xf64> {
  %k = tensor.empty() : tensor<3xf64>
  %r = linalg.pooling_nwc_min {strides = dense<1> : tensor<1xi64>, dilations = dense<4> : tensor<1xi64>}
      ins(%x, %k : tensor<2x9x3xf64>, tensor<3xf64>) outs(%init : tensor<2x1x3xf64>) -> tensor<2x1x3xf64>
  return %r : tensor<2x1x3xf64>
}

// REDEFINE: %{entry} = ncw_max
// RUN: %{check}
func.func @ncw_max(%x: tensor<2x3x9xf64>, %init: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %k = tensor.empty() : tensor<3xf64>
  %r = linalg.pooling_ncw_max {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%x, %k : tensor<2x3x9xf64>, tensor<3xf64>) outs(%init : tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %r : tensor<2x3x4xf64>
}

// REDEFINE: %{entry} = ndhwc_max
// RUN: %{check}
func.func @ndhwc_max(%x: tensor<1x4x3x5x1xf64>, %init: tensor<1x2x2x2x1xf64>) -> tensor<1x2x2x2x1xf64> {
  %k = tensor.empty() : tensor<3x2x3xf64>
  %r = linalg.pooling_ndhwc_max {strides = dense<[1, 1, 2]> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>}
      ins(%x, %k : tensor<1x4x3x5x1xf64>, tensor<3x2x3xf64>) outs(%init : tensor<1x2x2x2x1xf64>) -> tensor<1x2x2x2x1xf64>
  return %r : tensor<1x2x2x2x1xf64>
}

// REDEFINE: %{entry} = ndhwc_min
// RUN: %{check}
func.func @ndhwc_min(%x: tensor<1x4x6x6x2xf64>, %init: tensor<1x2x3x3x2xf64>) -> tensor<1x2x3x3x2xf64> {
  %k = tensor.empty() : tensor<2x2x2xf64>
  %r = linalg.pooling_ndhwc_min {strides = dense<2> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>}
      ins(%x, %k : tensor<1x4x6x6x2xf64>, tensor<2x2x2xf64>) outs(%init : tensor<1x2x3x3x2xf64>) -> tensor<1x2x3x3x2xf64>
  return %r : tensor<1x2x3x3x2xf64>
}

// REDEFINE: %{entry} = unsigned
// RUN: %{check}
func.func @unsigned(%x: tensor<2x9x3xi32>, %y: tensor<4xf64>, %init: tensor<2x4x3xi32>) -> (tensor<2x4x3xi32>, tensor<4xf64>) {
  %k = tensor.empty() : tensor<3xi32>
  %r = linalg.pooling_nwc_max_unsigned {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%x, %k : tensor<2x9x3xi32>, tensor<3xi32>) outs(%init : tensor<2x4x3xi32>) -> tensor<2x4x3xi32>
  %z = math.sin %y : tensor<4xf64>
  return %r, %z : tensor<2x4x3xi32>, tensor<4xf64>
}
