// A linear layer and an activation, x * sigmoid(x), as a framework spells it.
func.func @layer(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %zerof = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %zero : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zerof : f32) outs(%empty : tensor<?x8xf32>)
    -> tensor<?x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x8xf32>)
    outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%h : tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c1 = arith.constant 1.0 : f32
    %n = arith.negf %in : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %c1 : f32
    %q = arith.divf %c1, %d : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %y = arith.mulf %h, %s : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
