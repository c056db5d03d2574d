// RUN: fad-opt %s --fad-differentiate=entry=f --canonicalize | FileCheck %s
// RUN: fad-runner %s --entry=f --size=3 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=1 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// GRAD-NOT: FAIL
// GRAD:     0 {{.*}} ok
// GRAD:     1 {{.*}} ok
// GRAD:     2 {{.*}} ok
// RUN: fad-runner %s --entry=twice --check-gradients --policy=recompute | FileCheck %s --check-prefix=TWICE
// RUN: fad-runner %s --entry=one --check-gradients | FileCheck %s --check-prefix=TWICE
// TWICE-NOT: FAIL
// TWICE:   0 {{.*}} ok

// Each operand gets its part of the cotangent.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<2x?xf32>, %[[C:.*]]: tensor<2x4xf32>, %[[G:.*]]: tensor<2x?xf32> {
// CHECK:         tensor.concat
// CHECK:         %[[GA:.*]] = tensor.extract_slice %[[G]][0, 0] [2, 3] [1, 1]
// CHECK:         %[[N:.*]] = tensor.dim %[[B]]
// CHECK:         %[[GB:.*]] = tensor.extract_slice %[[G]][0, 3] [2, %[[N]]] [1, 1]
// CHECK:         %[[O:.*]] = arith.addi %[[N]], %c3
// CHECK:         %[[GC:.*]] = tensor.extract_slice %[[G]][0, %[[O]]] [2, 4] [1, 1]
// CHECK:         return %{{.*}}, %[[GA]], %[[GB]], %[[GC]]
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x?xf32>, %c: tensor<2x4xf32>) -> tensor<2x?xf32> {
  %0 = tensor.concat dim(1) %a, %b, %c : (tensor<2x3xf32>, tensor<2x?xf32>, tensor<2x4xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

func.func @twice(%x: tensor<2x3xbf16>) -> tensor<4x3xbf16> {
  %0 = tensor.concat dim(0) %x, %x : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<4x3xbf16>
  %1 = math.sin %0 : tensor<4x3xbf16>
  return %1 : tensor<4x3xbf16>
}

func.func @one(%x: tensor<2x3xf64>) -> tensor<?x3xf64> {
  %y = math.exp %x : tensor<2x3xf64>
  %0 = tensor.concat dim(0) %y : (tensor<2x3xf64>) -> tensor<?x3xf64>
  return %0 : tensor<?x3xf64>
}
