// RUN: fad-opt %s --fad-drop-empty-slices | FileCheck %s
// RUN: fad-runner %s --entry=empty --size=3 | FileCheck %s --check-prefix=EMPTY
// RUN: fad-runner %s --entry=end --size=3 | FileCheck %s --check-prefix=END

// A slice of no rows, and one behind the last row. Canonicalization of buffers would find
// the static sizes, for which upstream has no such slice.

// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %[[X:.*]]: tensor<0x?xf32>
// CHECK: %[[CAST:.*]] = tensor.cast %[[X]]
// CHECK: %[[SLICE:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK-NOT: insert_slice
// CHECK: return %[[SLICE]], %[[CAST]]
// EMPTY: out0: tensor<0x3xf32> = []
// EMPTY-NEXT: out1: tensor<0x3xf32> = []
func.func @empty(%x: tensor<0x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.cast %x : tensor<0x?xf32> to tensor<?x?xf32>
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %s = tensor.extract_slice %a[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %i = tensor.insert_slice %s into %a[0, 0] [%m, %n] [1, 1]
      : tensor<?x?xf32> into tensor<?x?xf32>
  return %s, %i : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @end(
// CHECK: %[[NONE:.*]] = tensor.empty(%[[N:.*]]) : tensor<?xf32>
// CHECK: return %[[NONE]]
// END: out0: tensor<0xf32> = []
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
