// Two functions in f64, each with a policy of its own, one of them step by step.
module attributes {transform.with_named_sequence} {
func.func @attention(%x: tensor<3x4xf64>, %w: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %zero = arith.constant 0.0 : f64
  %t = math.tanh %x : tensor<3x4xf64>
  %e = tensor.empty() : tensor<3x2xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3x2xf64>) -> tensor<3x2xf64>
  %y = linalg.matmul ins(%t, %w : tensor<3x4xf64>, tensor<4x2xf64>)
      outs(%c : tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}
func.func @ffn(%x: tensor<5xf64>, %w: tensor<5xf64>) -> tensor<5xf64> {
  %s = fad.silu %x : tensor<5xf64>
  %t = math.sin %s : tensor<5xf64>
  %y = arith.mulf %t, %w : tensor<5xf64>
  return %y : tensor<5xf64>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %attention = transform.structured.match attributes {sym_name = "attention"} in %root
      : (!transform.any_op) -> !transform.any_op
  transform.fad.nest %attention policy("bp")
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %ffn = transform.structured.match attributes {sym_name = "ffn"} in %root
      : (!transform.any_op) -> !transform.any_op
  %prepared = transform.fad.partition %ffn : (!transform.any_op) -> !transform.any_op
  %joint = transform.fad.differentiate %prepared options("recompute=all")
      : (!transform.any_op) -> !transform.any_op
  transform.fad.split %joint : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
