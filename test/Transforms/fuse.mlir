// RUN: fad-opt %s --fad-fuse | FileCheck %s

// A value and its derivative become one operation with two results; what both
// compute is computed once.

// CHECK-LABEL: func @siblings(
// CHECK:         %[[R:.*]]:2 = fad.elementwise ins(%{{.*}} : tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32> {
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32):
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[IN]]
// CHECK-NEXT:      %[[EE:.*]] = arith.mulf %[[E]], %[[E]]
// CHECK-NEXT:      fad.yield %[[E]], %[[EE]]
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @siblings(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    fad.yield %e : f32
  }
  %d = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    %f = arith.mulf %e, %e : f32
    fad.yield %f : f32
  }
  return %y, %d : tensor<?xf32>, tensor<?xf32>
}

// A producer joins its only consumer: multiply and accumulate.

// CHECK-LABEL: func @producer(
// CHECK-SAME:    %[[G:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<4xf32>, %[[H:.*]]: tensor<4xf32>)
// CHECK:         %[[R:.*]] = fad.elementwise ins(%[[G]], %[[D]], %[[H]] :
// CHECK-NEXT:    ^bb0(%[[GE:.*]]: f32, %[[DE:.*]]: f32, %[[HE:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[GE]], %[[DE]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[HE]]
// CHECK-NEXT:      fad.yield %[[S]]
// CHECK:         return %[[R]]
func.func @producer(%g: tensor<4xf32>, %d: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %p = fad.elementwise ins(%g, %d : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    fad.yield %m : f32
  }
  %s = fad.elementwise ins(%p, %h : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    fad.yield %m : f32
  }
  return %s : tensor<4xf32>
}

// An operand that is computed after the first operation keeps them apart.

// CHECK-LABEL: func @dependent(
// CHECK-COUNT-2: fad.elementwise
func.func @dependent(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    fad.yield %m : f32
  }
  %v = linalg.vecmat ins(%p, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %s = fad.elementwise ins(%x, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    fad.yield %m : f32
  }
  return %p, %s : tensor<4xf32>, tensor<4xf32>
}

// Work in between keeps operations apart: fused, the sum would keep the first
// product alive during the second.

// CHECK-LABEL: func @accumulation(
// CHECK:         linalg.matmul
// CHECK:         %[[A:.*]] = fad.elementwise ins(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK:         linalg.matmul
// CHECK:         fad.elementwise ins(%[[A]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
func.func @accumulation(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %p = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = fad.elementwise ins(%p, %x : tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    fad.yield %s : f32
  }
  %q = linalg.matmul ins(%y, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = fad.elementwise ins(%a, %q : tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    fad.yield %s : f32
  }
  return %b : tensor<4x4xf32>
}

// A kernel has no more than 16 streams: ten operands and two results and five
// operands and a result stay two operations.

// CHECK-LABEL: func @streams(
// CHECK:         %[[R:.*]]:2 = fad.elementwise
// CHECK:         fad.elementwise
func.func @streams(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>,
                   %f: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>, %i: tensor<4xf32>, %j: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = fad.elementwise ins(%a, %b, %c, %d, %e, %f, %g, %h, %i, %j
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a0: f32, %b0: f32, %c0: f32, %d0: f32, %e0: f32, %f0: f32, %g0: f32, %h0: f32, %i0: f32, %j0: f32):
    %1 = math.fma %a0, %b0, %c0 : f32
    %2 = math.fma %d0, %e0, %f0 : f32
    %3 = math.fma %g0, %h0, %i0 : f32
    %4 = arith.mulf %1, %2 : f32
    %5 = arith.mulf %3, %j0 : f32
    fad.yield %4, %5 : f32, f32
  }
  %6 = fad.elementwise ins(%a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %b0: f32, %c0: f32, %d0: f32, %e0: f32):
    %7 = math.fma %a0, %b0, %c0 : f32
    %8 = math.fma %d0, %e0, %7 : f32
    fad.yield %8 : f32
  }
  return %0#0, %0#1, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// An operation that a kernel computes stays as the kernel takes it.

// CHECK-LABEL: func @kernel(
// CHECK:         fad.elementwise
// CHECK-SAME:      fad.kernel = @kernels::@exp
// CHECK:           math.exp
// CHECK-NOT:       arith.negf
// CHECK:         fad.elementwise
// CHECK:           arith.negf
func.func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) attributes {fad.kernel = @kernels::@exp} -> tensor<4xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    fad.yield %e : f32
  }
  %z = fad.elementwise ins(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    fad.yield %n : f32
  }
  return %z : tensor<4xf32>
}

// A joint function is not split yet: the sine and its adjoint, which read the
// same tensor, belong to different functions.

// CHECK-LABEL: func @f_joint(
// CHECK-COUNT-2: fad.elementwise
func.func @f_joint(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    fad.yield %s : f32
  }
  %gx = fad.elementwise ins(%x, %g : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = math.cos %a : f32
    %m = arith.mulf %b, %c : f32
    fad.yield %m : f32
  }
  return %y, %gx : tensor<4xf32>, tensor<4xf32>
}

// An operation is found among the readers of a tensor which is a result of a fused
// operation by now.
// CHECK-LABEL: func @replaced(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>)
// CHECK:         %[[XS:.*]]:2 = fad.elementwise ins(%[[X]] :
// CHECK:         %[[AS:.*]]:2 = fad.elementwise ins(%[[XS]]#0 :
// CHECK-NOT:     fad.elementwise
// CHECK:         return %[[AS]]#0, %[[XS]]#1, %[[AS]]#1
func.func @replaced(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%in: f32):
    %e = math.exp %in : f32
    fad.yield %e : f32
  }
  %b = fad.elementwise ins(%a : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%in: f32):
    %s = math.sin %in : f32
    fad.yield %s : f32
  }
  %c = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%in: f32):
    %s = math.cos %in : f32
    fad.yield %s : f32
  }
  %d = fad.elementwise ins(%a : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%in: f32):
    %t = math.tanh %in : f32
    fad.yield %t : f32
  }
  return %b, %c, %d : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
