// RUN: fad-opt %s -canonicalize -split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Primitives on constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @fold(
func.func @fold() -> (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64) {
  %x = arith.constant -1.5 : f64
  // CHECK-DAG: arith.constant 0.182425523806356{{[0-9]+}} : f64
  %0 = fad.sigmoid %x : f64
  // CHECK-DAG: arith.constant 0.201413277982752{{[0-9]+}} : f64
  %1 = fad.softplus %x : f64
  // CHECK-DAG: arith.constant -1.500000e+00 : f64
  %2 = fad.softplus %x threshold -2.0 : f64
  // CHECK-DAG: arith.constant 0.000000e+00 : f64
  %3 = fad.relu %x : f64
  // CHECK-DAG: arith.constant -0.30000000000000004 : f64
  %4 = fad.leaky_relu %x slope 0.2 : f64
  // CHECK-DAG: arith.constant -0.38843491992578{{[0-9]+}} : f64
  %5 = fad.elu %x alpha 0.5 : f64
  // CHECK-DAG: arith.constant -0.27363828570953{{[0-9]+}} : f64
  %6 = fad.silu %x : f64
  // CHECK-DAG: arith.constant -0.100210801903{{[0-9]+}} : f64
  %7 = fad.gelu %x : f64
  // CHECK-DAG: arith.constant -0.100428423019{{[0-9]+}} : f64
  %8 = fad.gelu %x approximate <tanh> : f64
  // CHECK-DAG: arith.constant -0.298099742166{{[0-9]+}} : f64
  %9 = fad.mish %x : f64
  // CHECK-DAG: arith.constant 2.500000e-01 : f64
  %10 = fad.hardsigmoid %x : f64
  // CHECK-DAG: arith.constant -3.750000e-01 : f64
  %11 = fad.hardswish %x : f64
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11
      : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
}

// -----

// Rounded once, to the type of the operand.
// CHECK-LABEL: func.func @fold_narrow(
func.func @fold_narrow() -> (f16, bf16, tensor<2xf32>) {
  // CHECK-DAG: arith.constant 7.309570e-01 : f16
  %a = arith.constant 1.0 : f16
  %0 = fad.sigmoid %a : f16
  // CHECK-DAG: arith.constant 7.304680e-01 : bf16
  %b = arith.constant 1.0 : bf16
  %1 = fad.sigmoid %b : bf16
  // CHECK-DAG: arith.constant dense<[2.000000e+00, 0.000000e+00]> : tensor<2xf32>
  %c = arith.constant dense<[2.0, -2.0]> : tensor<2xf32>
  %2 = fad.relu %c : tensor<2xf32>
  return %0, %1, %2 : f16, bf16, tensor<2xf32>
}

// -----

// NaN stays NaN and negative zero becomes zero.
// CHECK-LABEL: func.func @fold_special(
func.func @fold_special() -> (f32, f32, f32) {
  // CHECK-DAG: arith.constant 0x7FC00000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %0 = fad.softplus %nan : f32
  %1 = fad.hardsigmoid %nan : f32
  // CHECK-DAG: arith.constant 0.000000e+00 : f32
  %zero = arith.constant -0.0 : f32
  %2 = fad.relu %zero : f32
  return %0, %1, %2 : f32, f32, f32
}

// -----

// CHECK-LABEL: func.func @fold_identity(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @fold_identity(%x: f32) -> (f32, f32) {
  // CHECK-NEXT: %[[R:.*]] = fad.relu %[[X]]
  %0 = fad.relu %x : f32
  %1 = fad.relu %0 : f32
  %2 = fad.leaky_relu %x slope 1.0 : f32
  // CHECK-NEXT: return %[[R]], %[[X]]
  return %1, %2 : f32, f32
}

// -----

//===----------------------------------------------------------------------===//
// fad.elementwise
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @unused_results(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>)
func.func @unused_results(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) attributes {fad.region = 2 : i64} -> tensor<4xf32>
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
  // CHECK-NEXT:   %[[E:.*]] = math.exp %[[A]]
  // CHECK-NEXT:   fad.yield %[[E]] : f32
  // CHECK:      return %[[R]]
  %0:2 = fad.elementwise ins(%x : tensor<4xf32>) attributes {fad.region = 2}
      -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    %e = math.exp %a : f32
    fad.yield %s, %e : f32, f32
  }
  return %0#1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_used_results(
// CHECK-NEXT: return
func.func @no_used_results(%x: tensor<4xf32>) {
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    fad.yield %e : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @equal_results(
func.func @equal_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = fad.elementwise ins(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: fad.yield %{{.*}} : f32
  // CHECK: return %[[R]], %[[R]]
  %0:2 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    fad.yield %e, %e : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @identity(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>)
func.func @identity(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  // A result of another static shape is not the operand.
  // CHECK: %[[R:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) -> tensor<?xf32>
  // CHECK: return %[[X]], %[[R]]
  %0:2 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<?xf32> {
  ^bb0(%a: f32):
    fad.yield %a, %a : f32, f32
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @constant_operands(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>)
func.func @constant_operands(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: fad.elementwise ins(%[[X]] : tensor<4xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
  // CHECK-DAG:  %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-DAG:  %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
  // CHECK:      %[[P:.*]] = arith.mulf %[[A]], %[[TWO]]
  // CHECK:      arith.addf %[[P]], %[[THREE]]
  %two = arith.constant 2.0 : f32
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %0 = fad.elementwise ins(%two, %x, %three : f32, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %b, %a : f32
    %2 = arith.addf %1, %c : f32
    fad.yield %2 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

// The last tensor stays: it gives the shape.
// CHECK-LABEL: func.func @constant_shape_operand(
func.func @constant_shape_operand(%s: f32) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = arith.constant dense<3.000000e+00> : tensor<4xf32>
  // CHECK: fad.elementwise ins(%[[C]], %{{.*}} : tensor<4xf32>, f32)
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %0 = fad.elementwise ins(%three, %s : tensor<4xf32>, f32) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

// A constant that is not a splat stays an operand.
// CHECK-LABEL: func.func @dense_operand(
func.func @dense_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
  // CHECK: fad.elementwise ins(%{{.*}}, %[[C]] : tensor<2xf32>, tensor<2xf32>)
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = fad.elementwise ins(%x, %c : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @repeated_operands(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[S:[^:]*]]: f32)
func.func @repeated_operands(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  // CHECK: fad.elementwise ins(%[[X]], %[[S]] : tensor<?xf32>, f32)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[A]], %[[A]]
  // CHECK-NEXT:   %[[Q:.*]] = arith.mulf %[[P]], %[[B]]
  // CHECK-NEXT:   arith.mulf %[[Q]], %[[B]]
  %0 = fad.elementwise ins(%x, %x, %s, %s : tensor<?xf32>, tensor<?xf32>, f32, f32) -> tensor<?xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    %3 = arith.mulf %2, %d : f32
    fad.yield %3 : f32
  }
  return %0 : tensor<?xf32>
}

// -----

// An operand whose first copy is unused keeps the second.
// CHECK-LABEL: func.func @repeated_after_unused(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[Y:[^:]*]]: tensor<?xf32>, %[[S:[^:]*]]: f32)
func.func @repeated_after_unused(%x: tensor<?xf32>, %y: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  // CHECK: fad.elementwise ins(%[[Y]], %[[X]], %[[S]] : tensor<?xf32>, tensor<?xf32>, f32)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[B]], %[[A]]
  // CHECK-NEXT:   arith.mulf %[[P]], %[[C]]
  %0 = fad.elementwise ins(%x, %y, %x, %s, %s : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, f32, f32) -> tensor<?xf32> {
  ^bb0(%unused: f32, %b: f32, %a: f32, %unused_scalar: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    fad.yield %2 : f32
  }
  return %0 : tensor<?xf32>
}

// -----

// A kernel takes its operands and results as they are.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[S:[^:]*]]: f32)
func.func @kernel(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  // CHECK: %[[R:.*]]:2 = fad.elementwise ins(%[[X]], %[[S]] : tensor<?xf32>, f32)
  // CHECK: return %[[R]]#0
  %0:2 = fad.elementwise ins(%x, %s : tensor<?xf32>, f32)
      attributes {fad.kernel = @kernels::@kernel_0} -> tensor<?xf32>, tensor<?xf32> {
  ^bb0(%a: f32, %unused: f32):
    %1 = arith.mulf %a, %a : f32
    fad.yield %1, %a : f32, f32
  }
  return %0#0 : tensor<?xf32>
}
