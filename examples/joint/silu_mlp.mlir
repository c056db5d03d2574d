// The vector-Jacobian product of a network with one hidden layer and SiLU, spelled
// as JAX spells its own: the derivative of each primitive on its own, products with
// the cotangent first, sums of cotangents where a value is read twice.

func.func @mlp(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x3xf32>, %ct: tensor<f32>)
    -> (tensor<f32>, tensor<4x8xf32>, tensor<8x16xf32>, tensor<16x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<4x16xf32>
  %eh = tensor.empty() : tensor<4x16xf32>
  %ey = tensor.empty() : tensor<4x3xf32>
  %el = tensor.empty() : tensor<f32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<4x16xf32>) -> tensor<4x16xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x3xf32>) -> tensor<4x3xf32>
  %fl = linalg.fill ins(%zero : f32) outs(%el : tensor<f32>) -> tensor<f32>

  // Forward: logistic(h) is 1 / (1 + exp(-h)).
  %h = linalg.matmul ins(%x, %w1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%fh : tensor<4x16xf32>) -> tensor<4x16xf32>
  %n = arith.negf %h : tensor<4x16xf32>
  %e = math.exp %n : tensor<4x16xf32>
  %d = arith.addf %e, %one : tensor<4x16xf32>
  %s = arith.divf %one, %d : tensor<4x16xf32>
  %a = arith.mulf %h, %s : tensor<4x16xf32>
  %y = linalg.matmul ins(%a, %w2 : tensor<4x16xf32>, tensor<16x3xf32>) outs(%fy : tensor<4x3xf32>) -> tensor<4x3xf32>
  %q = arith.mulf %y, %y : tensor<4x3xf32>
  %loss = linalg.reduce ins(%q : tensor<4x3xf32>) outs(%fl : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %sum: f32) {
      %next = arith.addf %in, %sum : f32
      linalg.yield %next : f32
    }

  // Backward.
  %g = linalg.broadcast ins(%ct : tensor<f32>) outs(%ey : tensor<4x3xf32>) dimensions = [0, 1]
  %y1 = arith.mulf %y, %g : tensor<4x3xf32>
  %y2 = arith.mulf %g, %y : tensor<4x3xf32>
  %yt = arith.addf %y1, %y2 : tensor<4x3xf32>
  %ew2t = tensor.empty() : tensor<3x16xf32>
  %w2t = linalg.transpose ins(%w2 : tensor<16x3xf32>) outs(%ew2t : tensor<3x16xf32>) permutation = [1, 0]
  %at = linalg.matmul ins(%yt, %w2t : tensor<4x3xf32>, tensor<3x16xf32>) outs(%fh : tensor<4x16xf32>) -> tensor<4x16xf32>
  %eat = tensor.empty() : tensor<16x4xf32>
  %atr = linalg.transpose ins(%a : tensor<4x16xf32>) outs(%eat : tensor<16x4xf32>) permutation = [1, 0]
  %ew2 = tensor.empty() : tensor<16x3xf32>
  %fw2 = linalg.fill ins(%zero : f32) outs(%ew2 : tensor<16x3xf32>) -> tensor<16x3xf32>
  %gw2 = linalg.matmul ins(%atr, %yt : tensor<16x4xf32>, tensor<4x3xf32>) outs(%fw2 : tensor<16x3xf32>) -> tensor<16x3xf32>
  %h1 = arith.mulf %at, %s : tensor<4x16xf32>
  %st = arith.mulf %h, %at : tensor<4x16xf32>
  %c1 = arith.subf %one, %s : tensor<4x16xf32>
  %c2 = arith.mulf %s, %c1 : tensor<4x16xf32>
  %h2 = arith.mulf %st, %c2 : tensor<4x16xf32>
  %ht = arith.addf %h1, %h2 : tensor<4x16xf32>
  %ext = tensor.empty() : tensor<8x4xf32>
  %xt = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%ext : tensor<8x4xf32>) permutation = [1, 0]
  %ew1 = tensor.empty() : tensor<8x16xf32>
  %fw1 = linalg.fill ins(%zero : f32) outs(%ew1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %gw1 = linalg.matmul ins(%xt, %ht : tensor<8x4xf32>, tensor<4x16xf32>) outs(%fw1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %ew1t = tensor.empty() : tensor<16x8xf32>
  %w1t = linalg.transpose ins(%w1 : tensor<8x16xf32>) outs(%ew1t : tensor<16x8xf32>) permutation = [1, 0]
  %ex = tensor.empty() : tensor<4x8xf32>
  %fx = linalg.fill ins(%zero : f32) outs(%ex : tensor<4x8xf32>) -> tensor<4x8xf32>
  %gx = linalg.matmul ins(%ht, %w1t : tensor<4x16xf32>, tensor<16x8xf32>) outs(%fx : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %loss, %gx, %gw1, %gw2 : tensor<f32>, tensor<4x8xf32>, tensor<8x16xf32>, tensor<16x3xf32>
}
