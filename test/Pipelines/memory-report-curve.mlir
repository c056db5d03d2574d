// RUN: fad-memory-report %s --format=curve --entry=branches | FileCheck %s --match-full-lines --strict-whitespace
// RUN: fad-memory-report %s --format=curve --entry=branches --recompute=nothing | FileCheck %s --check-prefix=NOTHING --match-full-lines --strict-whitespace
// RUN: fad-memory-report %s --format=curve --entry=rows --size=10 | FileCheck %s --check-prefix=ROWS --match-full-lines --strict-whitespace
// RUN: fad-memory-report %s --format=curve --entry=rows --assumed-size=20 | FileCheck %s --check-prefix=ASSUMED --match-full-lines --strict-whitespace

//      CHECK:Bytes that auto keeps of @branches against the time of keeping them and computing the rest again.
// CHECK-NEXT:One unit of time is the time in which memory moves one byte.
//CHECK-EMPTY:
// CHECK-NEXT:           bytes            time
// CHECK-NEXT:             768            2048
// CHECK-NEXT:             512            2264
// CHECK-NEXT:             384            2604
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

// Bytes are numbers: the curve says what dynamic sizes count as.
//         ROWS:One unit of time is the time in which memory moves one byte.
//    ROWS-NEXT:  sizes that are known only when the program runs count as 10
//   ROWS-EMPTY:
//    ROWS-NEXT:           bytes            time
//    ROWS-NEXT:             320 {{.*}}
//      ASSUMED:  sizes that are known only when the program runs count as 20
//      ASSUMED:             640 {{.*}}

func.func @rows(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>)
      outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = fad.gelu %m : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
