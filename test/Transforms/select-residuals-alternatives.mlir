// RUN: fad-opt %s --fad-partition --fad-differentiate=derivatives-from=both --split-input-file | FileCheck %s --check-prefix=BOTH
// RUN: fad-opt %s --fad-partition --fad-differentiate=derivatives-from=both --fad-select-residuals="policy=auto recompute=nothing" --cse --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-partition --fad-differentiate=derivatives-from=both --fad-select-residuals="policy=auto recompute=elementwise" --cse --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-partition --fad-differentiate=derivatives-from=both --fad-select-residuals="policy=fad" --cse --split-input-file | FileCheck %s --check-prefix=FAD
// RUN: fad-opt %s --fad-partition --fad-differentiate=derivatives-from=both --fad-to-linalg --cse --split-input-file | FileCheck %s --check-prefix=LINALG

// The product with the weights keeps the result of the region, from which the
// derivative can be computed.

// BOTH-LABEL: func.func @kept_result_joint(
// BOTH:         %[[M:.+]] = linalg.matmul
// BOTH:         %[[Y:.+]] = fad.elementwise ins(%[[M]] :
// BOTH:           math.tanh
// BOTH:         %[[FROM_SOURCE:.+]] = fad.elementwise ins(%[[M]] :
// BOTH:           math.exp
// BOTH:         %[[FROM_RESULT:.+]] = fad.elementwise ins(%[[Y]] :
// BOTH-NOT:       math
// BOTH:         %[[D:.+]] = fad.alternatives %[[FROM_SOURCE]], %[[FROM_RESULT]] : tensor<4x8xf32>
// BOTH:         fad.elementwise ins(%{{.+}}, %[[D]] :

// CHECK-LABEL: func.func @kept_result_joint(
// CHECK-NOT:     fad.alternatives
// CHECK:         %[[Y:.+]] = fad.elementwise
// CHECK:           math.tanh
// CHECK:         %[[KEPT:.+]] = fad.residual %[[Y]]
// CHECK-NOT:     fad.residual %{{.+}} reason "{{[^a]}}
// CHECK:         fad.elementwise ins(%[[KEPT]] :
// CHECK-NOT:       math.exp
// CHECK:         return

// FAD-LABEL: func.func @kept_result_joint(
// FAD-NOT:     fad.alternatives
// FAD:         %[[D:.+]] = fad.elementwise
// FAD:           math.exp
// FAD:         fad.residual %[[D]]

// LINALG-LABEL: func.func @kept_result_joint(
// LINALG-NOT:     fad.alternatives
// LINALG:         return
func.func @kept_result(%x: tensor<4x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<4x8xf32> {
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = arith.mulf %m, %two : tensor<4x8xf32>
  %y = math.tanh %a : tensor<4x8xf32>
  %z = linalg.matmul ins(%y, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

// The argument and the result are both there anyway: the derivative is computed from
// the one that takes less time.

// CHECK-LABEL: func.func @argument_joint(
// CHECK-NOT:     fad.alternatives
// CHECK:         %[[Y:.+]] = fad.elementwise
// CHECK:         %[[KEPT:.+]] = fad.residual %[[Y]]
// CHECK:         fad.elementwise ins(%[[KEPT]] :
// CHECK-NOT:       math.exp
// CHECK:         return
func.func @argument(%x: tensor<?xf64>) -> tensor<?xf64> {
  %half = arith.constant 0.5 : f64
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %halves = tensor.splat %half[%n] : tensor<?xf64>
  %a = arith.mulf %x, %halves : tensor<?xf64>
  %y = math.tanh %a : tensor<?xf64>
  return %y : tensor<?xf64>
}

// -----

// The derivative of a rectifier takes two values; a single operation has one of
// its own here. What is added keeps none of the tensors.

// CHECK-LABEL: func.func @one_bit_joint(
// CHECK:         %[[BITS:.+]] = fad.pack %{{.+}} bits 1
// CHECK:         fad.residual %[[BITS]]
// CHECK-NOT:     fad.residual %{{.+}} reason "{{[^a]}}
// CHECK:         return
func.func @one_bit(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = fad.relu %m : tensor<4x8xf32>
  %z = arith.addf %y, %x : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
