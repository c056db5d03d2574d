// RUN: fad-opt %s --fad-drop-empty-slices | FileCheck %s
// RUN: fad-runner %s --entry=empty --size=0 | FileCheck %s --check-prefix=RUN
// RUN: fad-runner %s --entry=end --size=3 | FileCheck %s --check-prefix=END

// A slice of no rows, and one behind the last row. Canonicalization of buffers would find
// the static sizes, for which upstream has no such slice.

// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %[[X:.*]]: tensor<0x?xf32>, %[[N:.*]]: index
// CHECK: %[[CAST:.*]] = tensor.cast %[[X]]
// CHECK: %[[SLICE:.*]] = tensor.empty(%[[ROWS:.*]], %[[N]]) : tensor<?x?xf32>
// CHECK-NOT: insert_slice
// CHECK: return %[[SLICE]], %[[CAST]]
// RUN: result 0: 0x0xf32
// RUN: result 1: 0x0xf32
func.func @empty(%x: tensor<0x?xf32>, %n: index) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tensor.cast %x : tensor<0x?xf32> to tensor<?x?xf32>
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %s = tensor.extract_slice %a[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %i = tensor.insert_slice %s into %a[0, 0] [%m, %n] [1, 1]
      : tensor<?x?xf32> into tensor<?x?xf32>
  return %s, %i : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @end(
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[N:.*]]) : tensor<?xf32>
// CHECK: return %[[EMPTY]]
// END: result 0: 0xf32
func.func @end(%x: tensor<2x4xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %a = tensor.cast %x : tensor<2x4xf32> to tensor<?x?xf32>
  %c4 = arith.constant 4 : index
  %zero = arith.muli %n, %c0 : index
  %s = tensor.extract_slice %a[1, %c4] [1, %zero] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// CHECK-LABEL: func.func @within(
// CHECK: tensor.extract_slice
func.func @within(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %s = tensor.extract_slice %a[3] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}
