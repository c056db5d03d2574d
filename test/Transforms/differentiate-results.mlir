// Results that are not differentiated: a running mean beside the loss.

// RUN: fad-opt %s --fad-differentiate=results=0 | FileCheck %s
// RUN: fad-opt %s --fad-nest="policy=bp results=0" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="policy=recompute results=0" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="policy=fad results=0" | FileCheck %s --check-prefix=NEST
// RUN: not fad-opt %s --fad-nest 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/@step\(.*\) {/@step\1 attributes {fad.request = #fad.request<results = [0]>} {/' %s \
// RUN:   | fad-opt --fad-nest | FileCheck %s --check-prefix=NEST

// CHECK-LABEL: func.func @step_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[MEAN:[^:]*]]: tensor<4xf32>,
// CHECK-SAME:    %[[G:[^:]*]]: tensor<4xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32>,
// CHECK-SAME:        tensor<4xf32> {fad.gradient = 0 : i64}, tensor<4xf32> {fad.gradient = 1 : i64})
// CHECK:         return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO:[^ ]*]] :

// NEST-LABEL: func.func @step_forward(
// NEST-SAME:    -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32>, tensor<4xf32> {fad.residual})
// NEST-LABEL: func.func @step_backward(
// NEST-SAME:    %{{[^:]*}}: tensor<4xf32> {fad.residual}, %{{[^:]*}}: tensor<4xf32> {fad.cotangent = 0 : i64})
// NEST-SAME:    -> (tensor<4xf32> {fad.gradient = 0 : i64}, tensor<4xf32> {fad.gradient = 1 : i64})

// BOTH:     error: result 1 is 'tensor<4xf8E4M3FN>' and depends on what is differentiated

func.func @step(%x: tensor<4xf32>, %mean: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %y = math.exp %x : tensor<4xf32>
  %small = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  %next = arith.addf %x, %mean : tensor<4xf32>
  return %y, %small, %next : tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32>
}

// RUN: fad-runner %s --entry=loss --results=0 --check-gradients | FileCheck %s --check-prefix=CHECKED
// CHECKED:     out0: tensor<3xf32>
// CHECKED:     out1: tensor<3xf32>
// CHECKED:     0         tensor<3xf32> {{.*}} ok
// CHECKED-NOT: FAIL
func.func private @loss(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = math.exp %x : tensor<3xf32>
  %z = arith.mulf %y, %x : tensor<3xf32>
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}

// RUN: fad-memory-report %s --results=0 --wrt=0 --policy=fad | FileCheck %s --check-prefix=REPORT
// REPORT: fad        16  total
