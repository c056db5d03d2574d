// RUN: fad-opt %s --fad-raise --fad-partition --fad-raise --fad-extract-coefficients \
// RUN:     --fad-select-residuals="policy=auto recompute=nothing derivative-bits=3" | FileCheck %s
// RUN: fad-opt %s --fad-raise --fad-partition --fad-raise --fad-extract-coefficients \
// RUN:     --fad-select-residuals="policy=auto recompute=nothing derivative-from-output" | FileCheck %s --check-prefix=BRANCH

// A joint function that fad has not differentiated, with SiLU and its derivative
// spelled out: they are what fad.silu and its derivative are, in few bits, too.

// CHECK:         fad.pack %{{.*}} bits 3 : tensor<3x5xi8> -> tensor<6xi8>
// CHECK:         fad.residual %{{.*}} reason "derivative of a region, 3 bits an element, off by at most 0.104, mean square 0.00202" {largest_error = 0.10{{[0-9]+}} : f64, mean_square_error = 0.0020{{[0-9]+}} : f64} : tensor<6xi8>

// BRANCH:        %[[H:.*]] = linalg.matmul
// BRANCH:        %[[SIDE:.*]] = fad.elementwise ins(%[[H]] : tensor<3x5xf32>) {{.*}} -> tensor<3x5xi1>
// BRANCH:          arith.constant -1.27846{{.*}} : f32
// BRANCH:        fad.residual %{{.*}} reason "for a derivative from a result, off by at most 0.00055{{.*}}, 1 bit an element" {{.*}} : tensor<2xi8>
func.func @foreign(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %v: tensor<5x2xf32>,
    %g: tensor<3x2xf32> {fad.cotangent = 0 : i64})
    -> (tensor<3x2xf32>, tensor<3x4xf32> {fad.gradient = 0 : i64}, tensor<5x2xf32> {fad.gradient = 2 : i64}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<3x5xf32>
  %e0 = arith.constant dense<0.0> : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %n = arith.negf %h : tensor<3x5xf32>
  %e = math.exp %n : tensor<3x5xf32>
  %d = arith.addf %one, %e : tensor<3x5xf32>
  %s = arith.divf %one, %d : tensor<3x5xf32>
  %y = arith.mulf %h, %s : tensor<3x5xf32>
  %e1 = arith.constant dense<0.0> : tensor<3x2xf32>
  %z = linalg.matmul ins(%y, %v : tensor<3x5xf32>, tensor<5x2xf32>) outs(%e1 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %vt0 = tensor.empty() : tensor<2x5xf32>
  %vt = linalg.transpose ins(%v : tensor<5x2xf32>) outs(%vt0 : tensor<2x5xf32>) permutation = [1, 0]
  %gy = linalg.matmul ins(%g, %vt : tensor<3x2xf32>, tensor<2x5xf32>) outs(%e0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %yt0 = tensor.empty() : tensor<5x3xf32>
  %yt = linalg.transpose ins(%y : tensor<3x5xf32>) outs(%yt0 : tensor<5x3xf32>) permutation = [1, 0]
  %e2 = arith.constant dense<0.0> : tensor<5x2xf32>
  %gv = linalg.matmul ins(%yt, %g : tensor<5x3xf32>, tensor<3x2xf32>) outs(%e2 : tensor<5x2xf32>) -> tensor<5x2xf32>
  %a = arith.subf %one, %s : tensor<3x5xf32>
  %b = arith.mulf %h, %a : tensor<3x5xf32>
  %c = arith.addf %one, %b : tensor<3x5xf32>
  %t = arith.mulf %gy, %s : tensor<3x5xf32>
  %gh = arith.mulf %t, %c : tensor<3x5xf32>
  %wt0 = tensor.empty() : tensor<5x4xf32>
  %wt = linalg.transpose ins(%w : tensor<4x5xf32>) outs(%wt0 : tensor<5x4xf32>) permutation = [1, 0]
  %e3 = arith.constant dense<0.0> : tensor<3x4xf32>
  %gx = linalg.matmul ins(%gh, %wt : tensor<3x5xf32>, tensor<5x4xf32>) outs(%e3 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z, %gx, %gv : tensor<3x2xf32>, tensor<3x4xf32>, tensor<5x2xf32>
}
