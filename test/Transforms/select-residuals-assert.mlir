// RUN: fad-opt %s --fad-nest="policy=auto wrt=0,2" | FileCheck %s
// RUN: fad-memory-report %s --policy=auto --wrt=0,2 | FileCheck %s --check-prefix=KEPT
// RUN: fad-runner %s --policy=auto --wrt=0,2 --arg=random:1 --arg=3 --check-gradients

// Backward reads the rows from the table again. That the numbers are good holds again.

// KEPT: auto {{ *}}0  total

// CHECK-LABEL: func.func @embed_forward(
// CHECK:         cf.assert
// CHECK-LABEL: func.func @embed_backward(
// CHECK:         cf.assert
// CHECK:         tensor.extract
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @embed(%table: tensor<8x4xf32>, %numbers: tensor<3xi64>, %w: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %size = arith.constant 8 : i64
  %e = tensor.empty() : tensor<3x4xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%numbers : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%number: i64, %out: f32):
    %column = linalg.index 1 : index
    %below = arith.cmpi slt, %number, %size : i64
    cf.assert %below, "number is beyond the table"
    %row = arith.index_cast %number : i64 to index
    %element = tensor.extract %table[%row, %column] : tensor<8x4xf32>
    linalg.yield %element : f32
  } -> tensor<3x4xf32>
  %none = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<3x4xf32>, tensor<4x4xf32>)
      outs(%none : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
