// A small network for images as a TOSA program: convolution, tanh, pooling,
// a fully connected layer with sigmoid, and the sum of its outputs.
func.func @net(%image: tensor<1x8x8x2xf32>, %filter: tensor<4x3x3x2xf32>, %bias: tensor<4xf32>, %weights: tensor<1x36x10xf32>) -> tensor<1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 36]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.conv2d %image, %filter, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  %1 = tosa.tanh %0 : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x4xf32>) -> tensor<1x3x3x4xf32>
  %3 = tosa.reshape %2, %shape : (tensor<1x3x3x4xf32>, !tosa.shape<3>) -> tensor<1x1x36xf32>
  %4 = tosa.matmul %3, %weights, %zero, %zero : (tensor<1x1x36xf32>, tensor<1x36x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x10xf32>
  %5 = tosa.sigmoid %4 : (tensor<1x1x10xf32>) -> tensor<1x1x10xf32>
  %6 = tosa.reduce_sum %5 {axis = 2 : i32} : (tensor<1x1x10xf32>) -> tensor<1x1x1xf32>
  return %6 : tensor<1x1x1xf32>
}
