// A joint function without marks, whose backward part starts from an argument.

// The loss is the first element.
func.func @f(%x: tensor<4xf32>, %g: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %l = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.broadcast ins(%g : tensor<f32>) outs(%e : tensor<4xf32>) dimensions = [0]
  return %l, %y : tensor<f32>, tensor<4xf32>
}
