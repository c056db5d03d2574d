// RUN: fad-memory-report %s --format=curve | FileCheck %s --match-full-lines --strict-whitespace
// RUN: fad-memory-report %s --format=curve --recompute=nothing | FileCheck %s --check-prefix=NOTHING --match-full-lines --strict-whitespace

//      CHECK:Bytes that auto keeps of @branches against the time of keeping them and computing the rest again,
// CHECK-NEXT:in bytes that could be moved meanwhile
//CHECK-EMPTY:
// CHECK-NEXT:           bytes            time
// CHECK-NEXT:             768            2048
// CHECK-NEXT:             512            2864
// CHECK-NEXT:             384            3436
//  CHECK-NOT:{{.+}}

//      NOTHING:           bytes            time
// NOTHING-NEXT:             768            2048
//  NOTHING-NOT:{{.+}}

// Two branches that each keep the source of an activation or, in less time, its
// result and its derivative; the second has twice the rows, and an activation that
// takes longer. Between the ends is the choice that lets it have more.

func.func @branches(%x: tensor<4x8xf32>, %u: tensor<8x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  %z0 = arith.constant dense<0.0> : tensor<4x8xf32>
  %z1 = arith.constant dense<0.0> : tensor<8x8xf32>
  %m0 = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%z0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y0 = fad.gelu %m0 : tensor<4x8xf32>
  %r0 = linalg.matmul ins(%y0, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%z0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m1 = linalg.matmul ins(%u, %v : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%z1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y1 = fad.mish %m1 : tensor<8x8xf32>
  %r1 = linalg.matmul ins(%y1, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%z1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r0, %r1 : tensor<4x8xf32>, tensor<8x8xf32>
}
