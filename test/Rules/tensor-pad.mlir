// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-runner %s --entry=f --size=3 --arg=random:1 --arg=2 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --arg=random:1 --arg=1 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=1 --arg=random:1 --arg=0 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=value --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=scalar --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=cut --size=4 --arg=random:1 --arg=2 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=cut --size=3 --arg=random:1 --arg=0 --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=cut --size=4 --arg=random:1 --arg=1 --check-gradients --policy=fad | FileCheck %s --check-prefix=GRAD
// RUN: not fad-runner %s --entry=cut --size=1 --arg=random:1 --arg=4 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: a negative size of padding leaves out more than there is
// RUN: fad-runner %s --entry=shift --arg=3 --check-gradients | FileCheck %s --check-prefix=SHIFT
// SHIFT: out0: tensor<2x2xf32> = [3, 3, 2, 2]
// SHIFT: grad0: tensor<2x2xf32> = [0, 0, 1, 1]
// GRAD-NOT: FAIL
// GRAD:     0 {{.*}} ok

// The cotangent loses the border.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x2xf32>, %[[L:.*]]: index, %[[G:.*]]: tensor<?x5xf32> {
// CHECK:         tensor.pad %[[X]] low[%[[L]], 1] high[0, 2]
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         %[[R:.*]] = tensor.extract_slice %[[G]][%[[L]], 1] [%[[N]], 2] [1, 1] {fad.adjoint_of = "tensor.pad"} : tensor<?x5xf32> to tensor<?x2xf32>
// CHECK:         return %{{.*}}, %[[R]]
func.func @f(%x: tensor<?x2xf32>, %l: index) -> tensor<?x5xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[%l, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x2xf32> to tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

func.func @value(%x: tensor<2x2xf16>) -> tensor<3x4xf16> {
  %one = arith.constant 1.0 : f16
  %y = math.sin %x : tensor<2x2xf16>
  %0 = tensor.pad %y low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f16
  } : tensor<2x2xf16> to tensor<3x4xf16>
  %1 = math.exp %0 : tensor<3x4xf16>
  return %1 : tensor<3x4xf16>
}

func.func @scalar(%x: tensor<f64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %0 = tensor.pad %x nofold low[] high[] {
    tensor.yield %zero : f64
  } : tensor<f64> to tensor<f64>
  return %0 : tensor<f64>
}

// What a negative border cuts off has no gradient.
func.func @cut(%x: tensor<?x3xf64>, %l: index) -> tensor<?x5xf64> {
  %zero = arith.constant 0.0 : f64
  %y = math.sin %x : tensor<?x3xf64>
  %0 = tensor.pad %y low[-2, 3] high[%l, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<?x3xf64> to tensor<?x5xf64>
  %1 = math.exp %0 : tensor<?x5xf64>
  return %1 : tensor<?x5xf64>
}

func.func @shift(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %two = arith.constant 2.0 : f32
  %0 = tensor.pad %x low[-1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<2x2xf32> to tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
