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
