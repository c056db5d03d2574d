// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-opt %s --fad-differentiate=entry=source --canonicalize | FileCheck %s --check-prefix=SOURCE
// RUN: fad-runner %s --entry=f --size=3 --arg=random:1 --arg=random:2 --arg=1 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --arg=random:1 --arg=random:2 --arg=0 --check-gradients | FileCheck %s --check-prefix=EMPTY
// RUN: fad-runner %s --entry=source --check-gradients --policy=bp | FileCheck %s --check-prefix=SINGLE
// RUN: fad-runner %s --entry=reduced --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=same --check-gradients | FileCheck %s --check-prefix=SINGLE
// GRAD-NOT: FAIL
// GRAD:     0 {{.*}} ok
// GRAD:     1 {{.*}} ok
// EMPTY-NOT: FAIL
// EMPTY:   0 {{ *}}tensor<0x2xf32> {{.*}} ok
// EMPTY:   1 {{ *}}tensor<8x4xf32> {{.*}} ok
// SINGLE-NOT: FAIL
// SINGLE:  0 {{.*}} ok

// The source gets what the result has in its place, the destination the rest.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x2xf32>, %[[Y:.*]]: tensor<8x4xf32>, %[[O:.*]]: index, %[[G:.*]]: tensor<8x4xf32> {
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         tensor.insert_slice %[[X]] into %[[Y]]
// CHECK:         %[[GX:.*]] = tensor.extract_slice %[[G]][%[[O]], 1] [%[[N]], 2] [2, 1] {fad.adjoint_of = "tensor.insert_slice"} : tensor<8x4xf32> to tensor<?x2xf32>
// CHECK:         %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x2xf32>)
// CHECK:         %[[GY:.*]] = tensor.insert_slice %[[Z]] into %[[G]][%[[O]], 1] [%[[N]], 2] [2, 1]
// CHECK:         return %{{.*}}, %[[GX]], %[[GY]]
func.func @f(%x: tensor<?x2xf32>, %y: tensor<8x4xf32>, %o: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %0 = tensor.insert_slice %x into %y[%o, 1] [%n, 2] [2, 1] : tensor<?x2xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Nothing is computed for a destination that is constant.

// SOURCE-LABEL: func @source_joint(
// SOURCE-NOT:     tensor.insert_slice {{.*}}fad.adjoint_of
// SOURCE:         tensor.extract_slice {{.*}}fad.adjoint_of
// SOURCE-NOT:     tensor.insert_slice {{.*}}fad.adjoint_of
func.func @source(%x: tensor<2x3xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant dense<1.0> : tensor<4x4xf64>
  %y = math.sin %x : tensor<2x3xf64>
  %0 = tensor.insert_slice %y into %zero[1, 0] [2, 3] [1, 1] : tensor<2x3xf64> into tensor<4x4xf64>
  %1 = math.exp %0 : tensor<4x4xf64>
  return %1 : tensor<4x4xf64>
}

func.func @reduced(%x: tensor<3xf32>, %y: tensor<2x1x3xf32>) -> tensor<2x1x3xf32> {
  %0 = tensor.insert_slice %x into %y[1, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<3xf32> into tensor<2x1x3xf32>
  %1 = math.exp %0 : tensor<2x1x3xf32>
  return %1 : tensor<2x1x3xf32>
}

// Source and destination come from one tensor.
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %1 = tensor.insert_slice %0 into %x[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %2 = arith.mulf %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
