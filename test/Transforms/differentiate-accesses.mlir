// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s
// RUN: fad-runner %s --entry=diagonal --policy=fad --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=trace --policy=bp --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=reversed --policy=recompute --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=strided --policy=fad --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=antidiagonal --policy=bp --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=upsample --policy=recompute --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=unfold --policy=fad --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=nonlinear --policy=bp --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=three_loops --policy=recompute --check-gradients --cotangent=random:3
// RUN: fad-runner %s --entry=two_windows --policy=fad --check-gradients --cotangent=random:3

// Operands that are read otherwise than at one loop in each dimension.

// An element that two equal indices select: the others get zero.

// CHECK-LABEL: func @diagonal_joint(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4xf64>)
// CHECK:           %[[HERE:.*]] = arith.cmpi eq
// CHECK:           arith.select %[[HERE]]
func.func @diagonal(%x: tensor<4x4xf64>, %i: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4x4xf64>) outs(%i : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    %1 = arith.mulf %0, %o : f64
    linalg.yield %1 : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// And a sum of such elements.

// CHECK-LABEL: func @trace_joint(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4x3xf64>)
// CHECK:           %[[HERE:.*]] = arith.cmpi eq
// CHECK:           arith.select %[[HERE]]
func.func @trace(%x: tensor<4x4x3xf64>, %i: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d0, d1)>, affine_map<(d0, d1) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x4x3xf64>) outs(%i : tensor<f64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    %1 = arith.addf %0, %o : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

// From the last to the first.

// CHECK-LABEL: func @reversed_joint(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3xf64>)
// CHECK:           tensor.extract
func.func @reversed(%x: tensor<5x3xf64>, %w: tensor<5xf64>, %i: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (4 - d1, d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<5x3xf64>, tensor<5xf64>) outs(%i : tensor<3x5xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %0 = arith.mulf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<3x5xf64>
  return %r : tensor<3x5xf64>
}

// -----

// Every second row from the third on, every third column from the last one on.

// CHECK-LABEL: func @strided_joint(
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[3, 2] [5, 3] [2, 3] {{.*}} : tensor<5x3xf64> into tensor<12x9xf64>
func.func @strided(%x: tensor<12x9xf64>, %i: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1 * 2 + 3, 8 - d0 * 3)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<12x9xf64>) outs(%i : tensor<3x5xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    linalg.yield %0 : f64
  } -> tensor<3x5xf64>
  return %r : tensor<3x5xf64>
}

// -----

// A loop in two indices: terms are added where they belong one by one.

// CHECK-LABEL: func @antidiagonal_joint(
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction"]} {{.*}} outs(%{{.*}} : tensor<5x5xf64>)
func.func @antidiagonal(%x: tensor<5x5xf64>, %i: tensor<5xf64>) -> tensor<5xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (4 - d0, d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<5x5xf64>) outs(%i : tensor<5xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    linalg.yield %0 : f64
  } -> tensor<5xf64>
  return %r : tensor<5xf64>
}

// -----

// Each element read twice, through a division.

// CHECK-LABEL: func @upsample_joint(
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<3x5xf64>)
func.func @upsample(%x: tensor<3x5xf64>, %i: tensor<6x5xf64>) -> tensor<6x5xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf64>) outs(%i : tensor<6x5xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    linalg.yield %0 : f64
  } -> tensor<6x5xf64>
  return %r : tensor<6x5xf64>
}

// -----

// Overlapping windows that stay apart in the result.

// CHECK-LABEL: func @unfold_joint(
// CHECK:         tensor.insert_slice
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<9xf64>)
func.func @unfold(%x: tensor<9xf64>, %i: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1 * 2)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9xf64>) outs(%i : tensor<3x4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = math.sin %a : f64
    linalg.yield %0 : f64
  } -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}

// -----

// A sum over windows of what is no product, and that depends on the position.

// CHECK-LABEL: func @nonlinear_joint(
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 2] [2, 4] [1, 2] {{.*}} into tensor<2x11xf64>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<2x9xf64>)
// CHECK:           arith.select
func.func @nonlinear(%x: tensor<2x9xf64>, %w: tensor<3xf64>, %i: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x9xf64>, tensor<3xf64>) outs(%i : tensor<2x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = linalg.index 1 : index
    %k = linalg.index 2 : index
    %s = arith.addi %p, %k : index
    %c = arith.index_cast %s : index to i32
    %f = arith.sitofp %c : i32 to f64
    %0 = math.sin %a : f64
    %1 = math.exp %b : f64
    %2 = arith.mulf %0, %1 : f64
    %3 = arith.mulf %2, %f : f64
    %4 = arith.addf %3, %o : f64
    linalg.yield %4 : f64
  } -> tensor<2x4xf64>
  return %r : tensor<2x4xf64>
}

// -----

// A window over three loops, with an offset.

// CHECK-LABEL: func @three_loops_joint(
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[5] [4] [3] {{.*}} into tensor<24xf64>
func.func @three_loops(%x: tensor<20xf64>, %w: tensor<3xf64>, %v: tensor<2x4xf64>, %i: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 * 3 + d1 + d2 * 2 + 1)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d0)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %w, %v : tensor<20xf64>, tensor<3xf64>, tensor<2x4xf64>) outs(%i : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
    %2 = arith.mulf %a, %b : f64
    %3 = arith.mulf %2, %c : f64
    %4 = arith.addf %3, %o : f64
    linalg.yield %4 : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// Two operands with different windows over the same loops.

// CHECK-LABEL: func @two_windows_joint(
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} {{.*}} outs(%{{.*}} : tensor<9xf64>)
func.func @two_windows(%x: tensor<9xf64>, %y: tensor<8xf64>, %j: tensor<3xf64>, %i: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d0  + d1 * 2)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %y, %j : tensor<9xf64>, tensor<8xf64>, tensor<3xf64>) outs(%i : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
    %2 = arith.mulf %a, %b : f64
    %4 = arith.addf %2, %o : f64
    linalg.yield %4 : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// linalg.transpose takes no static size for a dynamic one: the gradient has unknown sizes.

// CHECK-LABEL: func @unknown_sizes_joint(
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<3x4xf64>) outs(%{{.*}} : tensor<4x?xf64>)
func.func @unknown_sizes(%x: tensor<?x?xf64>, %i: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (3 - d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%i : tensor<3x4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %a, %o : f64
    linalg.yield %s : f64
  } -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}

// -----

// The gradient of row 1, which has the size of the other operand, is cast to that of the
// row.

// CHECK-LABEL: func @row_of_dynamic_size_joint(
// CHECK:         %[[ROW:.*]] = tensor.cast %{{.*}} : tensor<?xf64> to tensor<4xf64>
// CHECK:         tensor.insert_slice %[[ROW]] into %{{.*}}[1, 0] [1, 4] [1, 1]
func.func @row_of_dynamic_size(%x: tensor<2x4xf64>, %i: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (1, d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<2x4xf64>) outs(%i : tensor<?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %a, %o : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}
