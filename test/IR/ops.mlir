// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s
// RUN: fad-opt %s -emit-bytecode | fad-opt | FileCheck %s

// CHECK-LABEL: func.func @primitives(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @primitives(%x: f32) {
  // CHECK: fad.sigmoid %[[X]] : f32
  %0 = fad.sigmoid %x : f32
  // CHECK: fad.softplus %[[X]] : f32
  %1 = fad.softplus %x : f32
  // CHECK: fad.softplus %[[X]] threshold 2.000000e+01 : f32
  %2 = fad.softplus %x threshold 20.0 : f32
  // CHECK: fad.relu %[[X]] : f32
  %3 = fad.relu %x : f32
  // CHECK: fad.leaky_relu %[[X]] : f32
  %4 = fad.leaky_relu %x : f32
  // CHECK: fad.leaky_relu %[[X]] slope 2.000000e-01 : f32
  %5 = fad.leaky_relu %x slope 0.2 : f32
  // CHECK: fad.elu %[[X]] : f32
  %6 = fad.elu %x : f32
  // CHECK: fad.elu %[[X]] alpha 5.000000e-01 : f32
  %7 = fad.elu %x alpha 0.5 : f32
  // CHECK: fad.silu %[[X]] : f32
  %8 = fad.silu %x : f32
  // CHECK: fad.gelu %[[X]] : f32
  %9 = fad.gelu %x : f32
  // CHECK: fad.gelu %[[X]] approximate <tanh> : f32
  %10 = fad.gelu %x approximate <tanh> : f32
  // CHECK: fad.mish %[[X]] : f32
  %11 = fad.mish %x : f32
  // CHECK: fad.hardsigmoid %[[X]] : f32
  %12 = fad.hardsigmoid %x : f32
  // CHECK: fad.celu %[[X]] : f32
  fad.celu %x : f32
  // CHECK: fad.celu %[[X]] alpha 2.000000e+00 fastmath<nnan> : f32
  fad.celu %x alpha 2.0 fastmath<nnan> : f32
  // CHECK: fad.hardtanh %[[X]] : f32
  fad.hardtanh %x : f32
  // CHECK: fad.logsigmoid %[[X]] : f32
  fad.logsigmoid %x : f32
  // CHECK: fad.softsign %[[X]] : f32
  fad.softsign %x : f32
  // CHECK: fad.hardswish %[[X]] : f32
  %13 = fad.hardswish %x : f32
  return
}

// CHECK-LABEL: func.func @types(
func.func @types(%a: f16, %b: bf16, %c: f64, %d: vector<4xf32>, %e: vector<[4]x2xf16>,
                 %f: tensor<?x3xbf16>, %g: tensor<f32>) {
  // CHECK: fad.gelu %{{.*}} : f16
  %0 = fad.gelu %a : f16
  // CHECK: fad.gelu %{{.*}} : bf16
  %1 = fad.gelu %b : bf16
  // CHECK: fad.gelu %{{.*}} : f64
  %2 = fad.gelu %c : f64
  // CHECK: fad.gelu %{{.*}} : vector<4xf32>
  %3 = fad.gelu %d : vector<4xf32>
  // CHECK: fad.gelu %{{.*}} : vector<[4]x2xf16>
  %4 = fad.gelu %e : vector<[4]x2xf16>
  // CHECK: fad.gelu %{{.*}} : tensor<?x3xbf16>
  %5 = fad.gelu %f : tensor<?x3xbf16>
  // CHECK: fad.gelu %{{.*}} : tensor<f32>
  %6 = fad.gelu %g : tensor<f32>
  return
}

// CHECK-LABEL: func.func @fastmath(
func.func @fastmath(%x: f32) -> f32 {
  // CHECK: fad.sigmoid %{{.*}} fastmath<nnan,contract> : f32
  %0 = fad.sigmoid %x fastmath<nnan,contract> : f32
  // CHECK: fad.softplus %{{.*}} threshold 1.000000e+01 fastmath<fast> {note} : f32
  %1 = fad.softplus %0 threshold 10.0 fastmath<fast> {note} : f32
  // CHECK: fad.gelu %{{.*}} approximate <tanh> fastmath<afn> : f32
  %2 = fad.gelu %1 approximate <tanh> fastmath<afn> : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf32>, %[[S:[^:]*]]: f64, %[[N:[^:]*]]: tensor<?x8xi32>
func.func @elementwise(%x: tensor<?x8xf32>, %s: f64, %n: tensor<?x8xi32>)
    -> (tensor<?x8xf32>, tensor<?x8xi1>) {
  // CHECK: %[[R:[^:]*]]:2 = fad.elementwise
  // CHECK-SAME: ins(%[[X]], %[[S]], %[[N]] : tensor<?x8xf32>, f64, tensor<?x8xi32>)
  // CHECK-SAME: -> tensor<?x8xf32>, tensor<?x8xi1>
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f64, %[[C:.*]]: i32):
  // CHECK: fad.yield %{{.*}}, %{{.*}} : f32, i1
  %0:2 = fad.elementwise ins(%x, %s, %n : tensor<?x8xf32>, f64, tensor<?x8xi32>)
      -> tensor<?x8xf32>, tensor<?x8xi1> {
  ^bb0(%a: f32, %b: f64, %c: i32):
    %narrow = arith.truncf %b : f64 to f32
    %power = math.fpowi %a, %c : f32, i32
    %product = arith.mulf %power, %narrow : f32
    %less = arith.cmpf olt, %a, %product : f32
    fad.yield %product, %less : f32, i1
  }
  return %0#0, %0#1 : tensor<?x8xf32>, tensor<?x8xi1>
}

// The discardable attributes of an operation survive.
// CHECK-LABEL: func.func @elementwise_attributes(
func.func @elementwise_attributes(%x: tensor<f16>) -> tensor<f16> {
  // CHECK: fad.elementwise ins(%{{.*}} : tensor<f16>) attributes {fad.region = 3 : i64} -> tensor<f16>
  %0 = fad.elementwise ins(%x : tensor<f16>) attributes {fad.region = 3} -> tensor<f16> {
  ^bb0(%a: f16):
    fad.yield %a : f16
  }
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func @residual(
func.func @residual(%x: tensor<?xf32>, %s: f32) -> (tensor<?xf32>, f32) {
  // CHECK: fad.residual %{{.*}} needed_by ["fad.gelu", "math.exp"] reason "derivative" : tensor<?xf32>
  %0 = fad.residual %x needed_by ["fad.gelu", "math.exp"] reason "derivative" : tensor<?xf32>
  // CHECK: fad.residual %{{.*}} needed_by [] reason "" : f32
  %1 = fad.residual %s needed_by [] reason "" : f32
  // CHECK: fad.residual %{{.*}} needed_by [] reason "few bits" {largest_error = 1.000000e-01 : f64, mean_square_error = 1.000000e-03 : f64} : f32
  %2 = fad.residual %s needed_by [] reason "few bits" {largest_error = 0.1 : f64, mean_square_error = 0.001 : f64} : f32
  // CHECK: fad.residual %{{.*}} on host needed_by [] reason "derivative" : tensor<?xf32>
  %3 = fad.residual %x on host needed_by [] reason "derivative" : tensor<?xf32>
  // CHECK: fad.residual %{{.*}} needed_by [] reason "" : f32
  %4 = fad.residual %s on device needed_by [] reason "" : f32
  return %0, %1 : tensor<?xf32>, f32
}
