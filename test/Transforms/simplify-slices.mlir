// RUN: fad-opt %s --fad-simplify-slices --split-input-file | FileCheck %s
//
// Executed in test/fad-runner/slices.mlir.

// CHECK-LABEL: @concat
// CHECK-SAME:  %[[X:.*]]: tensor<4xf32>, %[[NONE:.*]]: tensor<0xf32>, %[[Y:.*]]: tensor<?xf32>
func.func @concat(%x: tensor<4xf32>, %none: tensor<0xf32>, %y: tensor<?xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<0xf32>, tensor<?xf32>) {
  %0 = tensor.concat dim(0) %none, %x, %none : (tensor<0xf32>, tensor<4xf32>, tensor<0xf32>) -> tensor<4xf32>
  // Nothing is left for %y.
  %1 = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  // CHECK: %[[WIDE:.*]] = tensor.cast %[[X]] : tensor<4xf32> to tensor<?xf32>
  %2 = tensor.concat dim(0) %x, %none : (tensor<4xf32>, tensor<0xf32>) -> tensor<?xf32>
  // CHECK: %[[BOTH:.*]] = tensor.concat dim(0) %[[X]], %[[Y]]
  %3 = tensor.concat dim(0) %x, %none, %y : (tensor<4xf32>, tensor<0xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<0xf32>
  %4 = tensor.concat dim(0) %none, %none : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  // CHECK: %[[SAME:.*]] = tensor.concat dim(0) %[[X]], %[[Y]]
  %5 = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: return %[[X]], %[[X]], %[[WIDE]], %[[BOTH]], %[[EMPTY]], %[[SAME]]
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<0xf32>, tensor<?xf32>
}

// -----

// Without elements along another dimension.
// CHECK-LABEL: @concat_rows
// CHECK-SAME:  %[[X:.*]]: tensor<?x0xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[M:.*]] = affine.apply #{{.*}}()[%{{.*}}, %{{.*}}]
// CHECK:         %[[E:.*]] = tensor.empty(%[[M]]) : tensor<?x0xf32>
// CHECK:         return %[[E]]
func.func @concat_rows(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %0 = tensor.concat dim(0) %x, %x : (tensor<?x0xf32>, tensor<?x0xf32>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// -----

// CHECK-LABEL: @pad
// CHECK-SAME:  %[[X:.*]]: tensor<0x?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[B:.*]]: f32
func.func @pad(%x: tensor<0x?xf32>, %y: tensor<?xf32>, %b: f32) -> (tensor<2x?xf32>, tensor<3xf32>, tensor<4xf32>) {
  // CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[M:.*]] = affine.apply #{{.*}}()[%{{.*}}]
  // CHECK: %[[E:.*]] = tensor.empty(%[[M]]) : tensor<2x?xf32>
  // CHECK: %[[R0:.*]] = linalg.fill ins(%[[B]] : f32) outs(%[[E]]
  %0 = tensor.pad %x low[1, 0] high[1, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %b : f32
  } : tensor<0x?xf32> to tensor<2x?xf32>
  // There is no room for %y.
  // CHECK: %[[R1:.*]] = tensor.generate
  // CHECK:   arith.index_cast
  %1 = tensor.pad %y low[3] high[0] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<3xf32>
  // CHECK: %[[R2:.*]] = tensor.pad %[[Y]]
  %2 = tensor.pad %y low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %b : f32
  } : tensor<?xf32> to tensor<4xf32>
  // CHECK: return %[[R0]], %[[R1]], %[[R2]]
  return %0, %1, %2 : tensor<2x?xf32>, tensor<3xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @strides
// CHECK-SAME:  %[[N:[^:]*]]: index)
func.func @strides(%x: tensor<7x5x5xf32>, %y: tensor<1x5xf32>, %n: index)
    -> (tensor<1x5xf32>, tensor<7x5x5xf32>, tensor<1x?xf32>) {
  // CHECK: tensor.extract_slice %{{.*}}[4, 0, 2] [1, 5, 1] [1, 1, 1]
  %0 = tensor.extract_slice %x[4, 0, 2] [1, 5, 1] [3, 1, 2] : tensor<7x5x5xf32> to tensor<1x5xf32>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[4, 0, 2] [1, 5, 1] [1, 1, 1]
  %1 = tensor.insert_slice %y into %x[4, 0, 2] [1, 5, 1] [%n, 1, 2] : tensor<1x5xf32> into tensor<7x5x5xf32>
  // Others stay, with the dimensions that they dropped.
  // CHECK: %[[WHOLE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [1, %[[N]], 1] [2, %[[N]], 1] : tensor<7x5x5xf32> to tensor<1x?x1xf32>
  // CHECK: tensor.collapse_shape %[[WHOLE]] {{\[\[0\], \[1, 2\]\]}} : tensor<1x?x1xf32> into tensor<1x?xf32>
  %2 = tensor.extract_slice %x[0, 0, 0] [1, %n, 1] [2, %n, 1] : tensor<7x5x5xf32> to tensor<1x?xf32>
  return %0, %1, %2 : tensor<1x5xf32>, tensor<7x5x5xf32>, tensor<1x?xf32>
}

// -----

// CHECK-LABEL: @drop
// CHECK-SAME:  %{{[^:]*}}: tensor<?x1x1xf32>, %[[Y:[^:]*]]: tensor<3x1xf32>
func.func @drop(%x: tensor<?x1x1xf32>, %y: tensor<3x1xf32>) -> (tensor<?x1x1xf32>, tensor<3xf32>) {
  // CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[Y]]
  // CHECK: tensor.insert_slice %[[WIDE]] into %{{.*}}[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<3x1x1xf32> into tensor<?x1x1xf32>
  %0 = tensor.insert_slice %y into %x[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<3x1xf32> into tensor<?x1x1xf32>
  // CHECK: %[[WHOLE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<?x1x1xf32> to tensor<3x1x1xf32>
  // CHECK: tensor.collapse_shape %[[WHOLE]] {{\[\[0, 1, 2\]\]}} : tensor<3x1x1xf32> into tensor<3xf32>
  %1 = tensor.extract_slice %x[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<?x1x1xf32> to tensor<3xf32>
  return %0, %1 : tensor<?x1x1xf32>, tensor<3xf32>
}

// -----

// The encoding of a tensor stays.
// CHECK-LABEL: @encoding
func.func @encoding(%x: tensor<?x1x1xf32>, %y: tensor<3x1xf32, "rows">) -> tensor<?x1x1xf32> {
  // CHECK: tensor.expand_shape %{{.*}} : tensor<3x1xf32, "rows"> into tensor<3x1x1xf32, "rows">
  // CHECK: tensor.insert_slice %{{.*}} : tensor<3x1x1xf32, "rows"> into tensor<?x1x1xf32>
  %0 = tensor.insert_slice %y into %x[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<3x1xf32, "rows"> into tensor<?x1x1xf32>
  return %0 : tensor<?x1x1xf32>
}

// -----

// CHECK-LABEL: @collapse
// CHECK-SAME:  %[[X:.*]]: tensor<?x4x0xf32>, %[[Y:.*]]: tensor<2x0xf32>
func.func @collapse(%x: tensor<?x4x0xf32>, %y: tensor<2x0xf32>) -> (tensor<?xf32>, tensor<?x0xf32>, tensor<0xf32>) {
  // CHECK: %[[ALL:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
  %0 = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x4x0xf32> into tensor<?xf32>
  // CHECK: %[[ROWS:.*]] = tensor.empty(%{{.*}}) : tensor<?x0xf32>
  %1 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x0xf32> into tensor<?x0xf32>
  // CHECK: %[[STATIC:.*]] = tensor.collapse_shape %[[Y]]
  %2 = tensor.collapse_shape %y [[0, 1]] : tensor<2x0xf32> into tensor<0xf32>
  // CHECK: return %[[ALL]], %[[ROWS]], %[[STATIC]]
  return %0, %1, %2 : tensor<?xf32>, tensor<?x0xf32>, tensor<0xf32>
}
