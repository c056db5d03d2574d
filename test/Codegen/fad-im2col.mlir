// RUN: fad-opt %s --fad-im2col | FileCheck %s
// RUN: fad-opt %s --fad-im2col > %t.mlir
// RUN: %python %S/Inputs/compare_functions.py %fad_tools_dir/fad-runner %s %t.mlir %t filter pointwise offset

// The gradient of a strided convolution with respect to its filter: the windows of
// the image, one row for each that the cotangent has.

#image = affine_map<(f, c, a, b, n, p, q) -> (n, c, p * 2 + a, q + b * 2)>
#out = affine_map<(f, c, a, b, n, p, q) -> (n, f, p, q)>
#filter = affine_map<(f, c, a, b, n, p, q) -> (f, c, a, b)>
// CHECK-DAG:   #[[WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1 * 2 + d4, d2 + d5 * 2)>
// CHECK-DAG:   #[[KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG:   #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @filter(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x8x7xf32>, %[[G:.*]]: tensor<2x4x3x5xf32>)
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[G]] : tensor<2x4x3x5xf32>) outs(%{{.*}} : tensor<2x3x5x4xf32>)
// CHECK:         %[[LEFT:.*]] = tensor.collapse_shape %[[ROWS]] {{.*}} into tensor<30x4xf32>
// CHECK:         %[[WRITTEN:.*]] = linalg.generic {indexing_maps = [#[[WINDOWS]], {{.*}} ins(%[[X]] : tensor<2x3x8x7xf32>) outs(%{{.*}} : tensor<2x3x5x3x3x2xf32>)
// CHECK:         %[[RIGHT:.*]] = tensor.collapse_shape %[[WRITTEN]] {{.*}} into tensor<30x18xf32>
// CHECK:         %[[PRODUCT:.*]] = linalg.matmul indexing_maps = [#[[KM]], #[[KN]], {{.*}}] ins(%[[LEFT]], %[[RIGHT]] :
// CHECK:         %[[R:.*]] = tensor.expand_shape %[[PRODUCT]] {{.*}} into tensor<4x3x3x2xf32>
// CHECK:         return %[[R]]
func.func @filter(%x: tensor<2x3x8x7xf32>, %g: tensor<2x4x3x5xf32>) -> tensor<4x3x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3x3x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3x3x2xf32>) -> tensor<4x3x3x2xf32>
  %r = linalg.generic {indexing_maps = [#image, #out, #filter],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<2x3x8x7xf32>, tensor<2x4x3x5xf32>) outs(%z : tensor<4x3x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %b, %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x3x3x2xf32>
  return %r : tensor<4x3x3x2xf32>
}

// Channels last, and sizes that are not known: rows and columns change places in
// the result.

// CHECK-LABEL: func.func @pointwise(
// CHECK:         linalg.matmul
// CHECK:         tensor.expand_shape {{.*}} into tensor<?x1x?xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [1, 2, 0]
func.func @pointwise(%x: tensor<?x?x?xf32>, %g: tensor<?x?x?xf32>, %e: tensor<1x?x?xf32>) -> tensor<1x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, c, f, n, p) -> (n, p + a, c)>,
      affine_map<(a, c, f, n, p) -> (n, p, f)>, affine_map<(a, c, f, n, p) -> (a, c, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %g : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%z : tensor<1x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1x?x?xf32>
  return %r : tensor<1x?x?xf32>
}

// Added to a number that is not zero.

// CHECK-LABEL: func.func @offset(
// CHECK:         %[[TWO:.*]] = arith.constant 2.0
// CHECK:         linalg.fill ins(%[[TWO]] : f32) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK:         linalg.matmul
func.func @offset(%x: tensor<3x6xf32>, %g: tensor<4x5xf32>) -> tensor<4x3x2xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4x3x2xf32>
  %z = linalg.fill ins(%two : f32) outs(%e : tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, c, a, p) -> (c, p + a)>,
      affine_map<(f, c, a, p) -> (f, p)>, affine_map<(f, c, a, p) -> (f, c, a)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : tensor<3x6xf32>, tensor<4x5xf32>) outs(%z : tensor<4x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x3x2xf32>
  return %r : tensor<4x3x2xf32>
}

// A size of 0 beside one that is not known would collapse to a type that does
// not verify on buffers. There is nothing to multiply.

// CHECK-LABEL: func.func @noElements(
// CHECK-NOT:     linalg.matmul
// CHECK:         return
func.func @noElements(%x: tensor<?x?xf32>, %w: tensor<4x0x?xf32>, %e: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, a, c, k) -> (c, a + k)>,
      affine_map<(f, a, c, k) -> (f, c, k)>, affine_map<(f, a, c, k) -> (f, a)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x?xf32>, tensor<4x0x?xf32>) outs(%z : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// Each channel alone, or added to a tensor: nothing changes.

// CHECK-LABEL: func.func @kept(
// CHECK-NOT:     linalg.matmul
// CHECK:         return
func.func @kept(%x: tensor<3x6xf32>, %g: tensor<3x5xf32>, %z: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%z : tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, a, p) -> (c, p + a)>,
      affine_map<(c, a, p) -> (c, p)>, affine_map<(c, a, p) -> (c, a)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %g : tensor<3x6xf32>, tensor<3x5xf32>) outs(%f : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<3x2xf32>
  %c = arith.constant dense<1.0> : tensor<3x3x2xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(f, c, a, p) -> (c, p + a)>,
      affine_map<(f, c, a, p) -> (f, p)>, affine_map<(f, c, a, p) -> (f, c, a)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : tensor<3x6xf32>, tensor<3x5xf32>) outs(%c : tensor<3x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<3x3x2xf32>
  return %r, %s : tensor<3x2xf32>, tensor<3x3x2xf32>
}
