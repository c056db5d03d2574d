// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=nothing" | FileCheck %s --check-prefixes=CHECK,NOTHING
// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals=policy=auto | FileCheck %s --check-prefixes=CHECK,SOURCE,ROWS
// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=elementwise" | FileCheck %s --check-prefixes=CHECK,SOURCE,ROWS
// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=reductions" | FileCheck %s --check-prefixes=CHECK,SOURCE,AGAIN
// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=all" | FileCheck %s --check-prefixes=CHECK,SOURCE,AGAIN

// The hidden layer of a network. Without recomputation, backward needs the
// result of the activation and its derivative; with it, the source of both.

// CHECK-LABEL: func.func @layer_joint(
// CHECK:         %[[H:.*]] = linalg.matmul
// CHECK-NEXT:    %[[Y:.*]] = fad.elementwise ins(%[[H]]
// NOTHING:       %[[D:.*]] = fad.elementwise ins(%[[H]] : tensor<8x16xf32>) attributes {fad.adjoint_of = "fad.gelu"}
// NOTHING:       fad.residual %[[Y]] needed_by ["linalg.matmul"] reason "read by an adjoint"
// NOTHING:       fad.residual %[[D]] needed_by ["fad.gelu"] reason "derivative of a region"
// SOURCE-NOT:    fad.residual %[[Y]]
// SOURCE:        %[[RH:.*]] = fad.residual %[[H]] needed_by ["linalg.matmul", "fad.gelu"] reason "source of a region"
// SOURCE-NOT:    fad.residual %[[Y]]
// SOURCE:        fad.elementwise ins(%[[RH]]
// SOURCE:        fad.elementwise ins(%[[RH]]
// CHECK:         return
func.func @layer(%x: tensor<8x4xf32>, %v: tensor<4x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x4xf32>, tensor<4x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = fad.elementwise ins(%h : tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%a: f32):
    %s = fad.gelu %a : f32
    fad.yield %s : f32
  }
  %e1 = tensor.empty() : tensor<8x4xf32>
  %g = linalg.fill ins(%z : f32) outs(%e1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%y, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%g : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// The sum of a row is small, so it is kept where it cannot be computed again.

// CHECK-LABEL: func.func @rows_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x16xf32>
// CHECK:         %[[S:.*]] = linalg.generic
// CHECK-SAME:      "reduction"
// NOTHING:       fad.residual %[[S]] needed_by ["linalg.generic"] reason "read by an adjoint" : tensor<8xf32>
// ROWS:          fad.residual %[[S]] needed_by ["linalg.generic"] reason "read by an adjoint" : tensor<8xf32>
// AGAIN-NOT:     fad.residual %[[S]]
// CHECK:         %[[RX:.*]] = fad.residual %[[X]] needed_by ["linalg.generic"] reason "argument"
// CHECK-NOT:     fad.residual
// AGAIN:         linalg.generic
// AGAIN-SAME:      ins(%[[RX]] : tensor<8x16xf32>)
// CHECK:         return
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %b : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %i = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%i : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// Of equal bytes, what takes less time: the sine is not computed again.

// CHECK-LABEL: func.func @equal_joint(
// CHECK:         %[[H:.*]] = linalg.matmul
// CHECK:         %[[Y:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[H]] :
// CHECK:           math.sin
// CHECK-NOT:     fad.residual %[[H]]
// CHECK:         fad.residual %[[Y]] needed_by ["linalg.matmul"]
// CHECK-NOT:     fad.residual %[[H]]
// CHECK:         return
func.func @equal(%x: tensor<8x4xf32>, %v: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {fad.request = #fad.request<wrt = [2]>} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x4xf32>, tensor<4x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = math.sin %h : tensor<8x8xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %g = linalg.fill ins(%z : f32) outs(%e1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%y, %w : tensor<8x8xf32>, tensor<8x4xf32>) outs(%g : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// What has no effect but an assertion is done again: it holds again.

// CHECK-LABEL: func.func @effects_joint(
// CHECK-SAME:    %[[N:[^ ]*]]: tensor<8xi64>
// CHECK:         linalg.generic
// CHECK:           cf.assert
// CHECK:         %[[KEPT:.*]] = fad.residual %[[N]]
// CHECK-NOT:     fad.residual
// CHECK:         linalg.generic {{.*}} ins(%[[KEPT]] :
// CHECK:           cf.assert
// CHECK:         return
func.func @effects(%x: tensor<8xf32>, %n: tensor<8xi64>) -> tensor<8xf32> attributes {fad.request = #fad.request<wrt = [0]>} {
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i64, %b: f32):
    %z = arith.constant 0 : i64
    %c = arith.cmpi sge, %a, %z : i64
    cf.assert %c, "is negative"
    %f = arith.sitofp %a : i64 to f32
    linalg.yield %f : f32
  } -> tensor<8xf32>
  %y = arith.mulf %x, %s : tensor<8xf32>
  return %y : tensor<8xf32>
}
