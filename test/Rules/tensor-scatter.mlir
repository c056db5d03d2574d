// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-runner %s --entry=f --size=3 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=reduced --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=one --check-gradients | FileCheck %s --check-prefix=GRAD
// GRAD-NOT: FAIL
// GRAD:     0 {{.*}} ok
// GRAD:     1 {{.*}} ok

// The slices get what the result has in their places, the destination the rest.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x1x?xf32>, %[[Z:.*]]: tensor<4x5x?xf32>, %[[G:.*]]: tensor<4x5x?xf32> {
// CHECK:         %[[I:.*]] = arith.constant dense<
// CHECK:         tensor.scatter %[[X]] into %[[Z]][%[[I]]]
// CHECK:         %[[GX:.*]] = tensor.gather %[[G]][%[[I]]] gather_dims([1]) unique
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x4x1x?xf32>
// CHECK:         %[[GZ:.*]] = tensor.scatter %[[ZEROS]] into %[[G]][%[[I]]] scatter_dims([1]) unique
// CHECK:         return %{{.*}}, %[[GX]], %[[GZ]]
func.func @f(%x: tensor<2x4x1x?xf32>, %z: tensor<4x5x?xf32>) -> tensor<4x5x?xf32> {
  %i = arith.constant dense<[[3], [1]]> : tensor<2x1xindex>
  %0 = tensor.scatter %x into %z[%i] scatter_dims([1]) unique : (tensor<2x4x1x?xf32>, tensor<4x5x?xf32>, tensor<2x1xindex>) -> tensor<4x5x?xf32>
  return %0 : tensor<4x5x?xf32>
}

func.func @reduced(%x: tensor<2x2xf64>, %z: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %i = arith.constant dense<[[[0, 1], [2, 2]], [[1, 0], [0, 0]]]> : tensor<2x2x2xi32>
  %s = math.sin %x : tensor<2x2xf64>
  %0 = tensor.scatter %s into %z[%i] scatter_dims([0, 1]) unique : (tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2x2xi32>) -> tensor<3x3xf64>
  %1 = math.exp %0 : tensor<3x3xf64>
  return %1 : tensor<3x3xf64>
}

func.func @one(%x: tensor<1x3xf16>, %z: tensor<3x3xf16>) -> tensor<3x3xf16> {
  %i = arith.constant dense<2> : tensor<1xi64>
  %0 = tensor.scatter %x into %z[%i] scatter_dims([0]) unique : (tensor<1x3xf16>, tensor<3x3xf16>, tensor<1xi64>) -> tensor<3x3xf16>
  return %0 : tensor<3x3xf16>
}
