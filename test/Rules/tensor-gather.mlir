// RUN: fad-opt %s --fad-normalize --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-runner %s --entry=f --size=3 --arg=random:1 --arg=1 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=reduced --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=twice --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-opt %s --fad-normalize --fad-differentiate=entry=twice | FileCheck %s --check-prefix=WIDE
// GRAD-NOT: FAIL
// GRAD:     0 {{.*}} ok

// Each slice is added where it came from. The adjoint is that of the loop that
// fad-normalize makes of it.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x5x?xf32>, %[[I:.*]]: tensor<?x1xindex>, %[[G:.*]]: tensor<?x4x1x?xf32> {
// CHECK:         tensor.extract %[[X]]
// CHECK:         %[[R:.*]] = fad.scatter_add %{{.*}} at(%{{.*}} : tensor<?xi64>) dims [1] into %{{.*}} : tensor<?x4x?xf32> -> tensor<4x5x?xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         return %{{.*}}, %[[R]]
func.func @f(%x: tensor<4x5x?xf32>, %i: tensor<?x1xindex>) -> tensor<?x4x1x?xf32> {
  %0 = tensor.gather %x[%i] gather_dims([1]) : (tensor<4x5x?xf32>, tensor<?x1xindex>) -> tensor<?x4x1x?xf32>
  return %0 : tensor<?x4x1x?xf32>
}

func.func @reduced(%x: tensor<3x3xf64>) -> tensor<2x2xf64> {
  %i = arith.constant dense<[[[0, 1], [2, 2]], [[0, 1], [0, 0]]]> : tensor<2x2x2xi32>
  %s = math.sin %x : tensor<3x3xf64>
  %0 = tensor.gather %s[%i] gather_dims([0, 1]) : (tensor<3x3xf64>, tensor<2x2x2xi32>) -> tensor<2x2xf64>
  %1 = math.exp %0 : tensor<2x2xf64>
  return %1 : tensor<2x2xf64>
}

// bf16 is added up in f32.
// WIDE-LABEL: func @twice_joint(
// WIDE:         %[[SUM:.*]] = fad.scatter_add {{.*}} : tensor<2x2xf32> -> tensor<3x2xf32>
// WIDE:         %[[G:.*]] = fad.elementwise ins(%[[SUM]] : tensor<3x2xf32>) {{.*}} -> tensor<3x2xbf16>
// WIDE:         return %{{.*}}, %[[G]]
func.func @twice(%x: tensor<3x2xbf16>) -> tensor<2x2xbf16> {
  %i = arith.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %0 = tensor.gather %x[%i] gather_dims([0]) unique : (tensor<3x2xbf16>, tensor<2x1xi64>) -> tensor<2x2xbf16>
  %1 = arith.mulf %0, %0 : tensor<2x2xbf16>
  return %1 : tensor<2x2xbf16>
}
