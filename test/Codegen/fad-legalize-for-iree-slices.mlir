// Insertions into insertions, of which IREE 3.13 loses elements, are made one;
// executed by IREE in test/python/iree.test.

// RUN: fad-opt %s --fad-legalize-for-iree -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/compare_functions.py %fad_tools_dir/fad-runner %s %t.mlir %t spread among

// CHECK-LABEL: func.func @spread(
// CHECK-SAME:    %[[G:[^:]*]]: tensor<2x3xf32>)
// CHECK:         %[[Z:.*]] = linalg.fill {{.*}} -> tensor<4x7xf32>
// CHECK:         %[[R:.*]] = tensor.insert_slice %[[G]] into %[[Z]][1, 1] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<4x7xf32>
// CHECK:         return %[[R]]
func.func @spread(%g: tensor<2x3xf32>) -> tensor<4x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x6xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x6xf32>) -> tensor<2x6xf32>
  %0 = tensor.insert_slice %g into %z0[0, 1] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<2x6xf32>
  %e1 = tensor.empty() : tensor<4x7xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x7xf32>) -> tensor<4x7xf32>
  %1 = tensor.insert_slice %0 into %z1[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x7xf32>
  return %1 : tensor<4x7xf32>
}

// Among other numbers than zeros, both stay.
// CHECK-LABEL:   func.func @among(
// CHECK-COUNT-2:   tensor.insert_slice
// CHECK:           return
func.func @among(%g: tensor<2x3xf32>) -> tensor<4x7xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e0 = tensor.empty() : tensor<2x6xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x6xf32>) -> tensor<2x6xf32>
  %0 = tensor.insert_slice %g into %z0[0, 1] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<2x6xf32>
  %e1 = tensor.empty() : tensor<4x7xf32>
  %z1 = linalg.fill ins(%one : f32) outs(%e1 : tensor<4x7xf32>) -> tensor<4x7xf32>
  %1 = tensor.insert_slice %0 into %z1[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x7xf32>
  return %1 : tensor<4x7xf32>
}
