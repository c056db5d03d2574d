// Sums that IREE 3.13 cannot compile are made of two; executed by IREE in
// test/python/iree.test.

// RUN: fad-opt %s --fad-legalize-for-iree -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/compare_functions.py %fad_tools_dir/fad-runner %s %t.mlir %t scaled rows through product

#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
#first = affine_map<(d0, d1, d2) -> (d0)>
#none = affine_map<(d0, d1, d2) -> ()>

// The last dimension, along which a factor lies that is broadcast along the
// others, is summed first. The initial value counts once.

// CHECK-DAG:   #[[FULL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[NONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x4xf32>, %{{[^:]*}}: tensor<4xf32>, %[[INIT:[^:]*]]: tensor<f32>)
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]], %{{.*}} :
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x3xf32>
// CHECK:         %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]] :
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[P]] : {{.*}} outs(%[[ZERO]] :
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[NONE]]], iterator_types = ["reduction", "reduction"]} ins(%[[SUMS]] : {{.*}} outs(%{{.*}} :
// CHECK:         return %[[R]]
func.func @scaled(%x: tensor<?x3x4xf32>, %w: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x4xf32>
  %e = tensor.empty(%n) : tensor<?x3x4xf32>
  %p = linalg.generic {indexing_maps = [#full, #last, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<?x3x4xf32>, tensor<4xf32>) outs(%e : tensor<?x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x3x4xf32>
  %r = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%p : tensor<?x3x4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Some dimensions stay.
// CHECK-LABEL: func.func @rows(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
func.func @rows(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %p = linalg.generic {indexing_maps = [#full, #last, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<2x3x4xf32>, tensor<4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x4xf32>
  %r = linalg.generic {indexing_maps = [#full, #first], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%p : tensor<2x3x4xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// The factor is further away; IREE computes all of it at once.
// CHECK-LABEL: func.func @through(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]}
func.func @through(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0, 1]
  %p = arith.mulf %x, %b : tensor<2x3x4xf32>
  %r = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%p : tensor<2x3x4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// The product is in the sum.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x3x4xf32>, %[[W:[^:]*]]: tensor<4xf32>,
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]] :
// CHECK:           arith.mulf
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} ins(%[[SUMS]] :
// CHECK-NOT:       arith.mulf
// CHECK:         return
func.func @product(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#full, #last, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x3x4xf32>, tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// No factor, one that lies along another dimension, and a sum of squares: nothing
// changes. Nor does a product that is multiplied up.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-4: iterator_types = ["reduction", "reduction", "reduction"]
// CHECK-NOT:     "reduction"
// CHECK:         return
func.func @kept(%x: tensor<2x3x4xf32>, %w: tensor<2xf32>, %v: tensor<4xf32>, %init: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %p = linalg.generic {indexing_maps = [#full, #first, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<2x3x4xf32>, tensor<2xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<2x3x4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %4 = arith.addf %a, %o : f32
    linalg.yield %4 : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%p : tensor<2x3x4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %4 = arith.addf %a, %o : f32
    linalg.yield %4 : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#full, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<2x3x4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %4 = arith.mulf %a, %a : f32
    %5 = arith.addf %4, %o : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  %3 = linalg.generic {indexing_maps = [#full, #last, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %v : tensor<2x3x4xf32>, tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %4 = arith.addf %a, %b : f32
    %5 = arith.mulf %4, %o : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
