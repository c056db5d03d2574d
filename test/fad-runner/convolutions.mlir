// The convolution and both gradients by a library, against differences.
// RUN: fad-runner %s --entry=plain --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=padded --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=dilated --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=channels_last --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=grouped --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=depthwise --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=line --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=volume --policy=fad --contractions=library --check-gradients
// RUN: fad-runner %s --entry=element --policy=fad --contractions=library --check-gradients
// RUN: env FAD_OPT_LEVEL=3 fad-runner %s --entry=element --policy=fad --contractions=loops --check-gradients
// RUN: fad-runner %s --entry=element_f64 --policy=fad --contractions=library --check-gradients
// RUN: env FAD_OPT_LEVEL=3 fad-runner %s --entry=element_f64 --policy=fad --contractions=loops --check-gradients
// RUN: fad-runner %s --entry=strided_element --policy=fad --contractions=library --check-gradients


func.func @plain(%x: tensor<2x3x6x7xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<2x4x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x6x7xf32>, tensor<4x3x3x2xf32>) outs(%f : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  return %y : tensor<2x4x4x6xf32>
}

func.func @padded(%x: tensor<2x3x5x6xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x3x5x6xf32> to tensor<2x3x7x8xf32>
  %e = tensor.empty() : tensor<2x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<2x3x7x8xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  return %y : tensor<2x4x3x3xf32>
}

func.func @dilated(%x: tensor<1x7x6x3xf32>, %w: tensor<3x2x3x2xf32>) -> tensor<1x3x4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[2, 2]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x7x6x3xf32>, tensor<3x2x3x2xf32>) outs(%f : tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  return %y : tensor<1x3x4x2xf32>
}

func.func @channels_last(%x: tensor<2x5x6x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x5x6x3xf32> to tensor<2x7x8x3xf32>
  %e = tensor.empty() : tensor<2x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x3x4xf32>) -> tensor<2x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_fhwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<2x7x8x3xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<2x3x3x4xf32>) -> tensor<2x3x3x4xf32>
  return %y : tensor<2x3x3x4xf32>
}

func.func @grouped(%x: tensor<1x2x3x6x5xf32>, %w: tensor<2x2x3x3x3xf32>) -> tensor<1x2x2x4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x4x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x4x3xf32>) -> tensor<1x2x2x4x3xf32>
  %y = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x2x3x6x5xf32>, tensor<2x2x3x3x3xf32>) outs(%f : tensor<1x2x2x4x3xf32>) -> tensor<1x2x2x4x3xf32>
  return %y : tensor<1x2x2x4x3xf32>
}

func.func @depthwise(%x: tensor<2x4x6x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x4x6x5xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return %y : tensor<2x4x4x3xf32>
}

func.func @line(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x3x9xf32> to tensor<2x3x11xf32>
  %e = tensor.empty() : tensor<2x4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x3x11xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return %y : tensor<2x4x5xf32>
}

func.func @volume(%x: tensor<1x2x4x4x5xf32>, %w: tensor<2x2x2x3x2xf32>) -> tensor<1x2x3x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x3x2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3x2x4xf32>) -> tensor<1x2x3x2x4xf32>
  %y = linalg.conv_3d_ncdhw_fcdhw {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>}
      ins(%x, %w : tensor<1x2x4x4x5xf32>, tensor<2x2x2x3x2xf32>) outs(%f : tensor<1x2x3x2x4xf32>) -> tensor<1x2x3x2x4xf32>
  return %y : tensor<1x2x3x2x4xf32>
}

func.func @element(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x5x4xf32>) -> tensor<2x4x5x4xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) outs(%f : tensor<2x4x5x4xf32>) -> tensor<2x4x5x4xf32>
  return %y : tensor<2x4x5x4xf32>
}

func.func @element_f64(%x: tensor<2x9x5x4xf64>, %w: tensor<9x8x1x1xf64>) -> tensor<2x8x5x4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x8x5x4xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x8x5x4xf64>) -> tensor<2x8x5x4xf64>
  %t = tensor.empty() : tensor<8x9x1x1xf64>
  %v = linalg.transpose ins(%w : tensor<9x8x1x1xf64>) outs(%t : tensor<8x9x1x1xf64>) permutation = [1, 0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %v : tensor<2x9x5x4xf64>, tensor<8x9x1x1xf64>) outs(%f : tensor<2x8x5x4xf64>) -> tensor<2x8x5x4xf64>
  return %y : tensor<2x8x5x4xf64>
}

func.func @strided_element(%x: tensor<2x3x5x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x5x4xf32>, tensor<4x3x1x1xf32>) outs(%f : tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  return %y : tensor<2x4x3x2xf32>
}
