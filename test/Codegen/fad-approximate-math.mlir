// RUN: fad-opt %s -fad-approximate-math | FileCheck %s
// Executed in fad-approximate-math-run.mlir.

// An exponential is a polynomial of the fraction and a shift of the exponent.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NOT:     math.exp
// CHECK:         %[[SHIFTED:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[N:.*]] = arith.subf %[[SHIFTED]], %{{.*}} : f32
// CHECK:         math.fma %[[N]],
// CHECK:         arith.bitcast %[[SHIFTED]] : f32 to i32
// CHECK-COUNT-4: math.fma
// CHECK-NOT:     call
// CHECK:         return
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// Vectors, and fast-math flags, stay what they are.
// CHECK-LABEL: func.func @vector(
// CHECK-NOT:     math.log1p
// CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK:         arith.shrsi %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:         return %{{.*}} : vector<8xf32>
func.func @vector(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.log1p %x fastmath<contract> : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @all(
// CHECK-NOT:     math.{{expm1|log|tanh|erf|exp}}
// CHECK:         return
func.func @all(%x: f32) -> (f32, f32, f32, f32, f32) {
  %0 = math.expm1 %x : f32
  %1 = math.log %x : f32
  %2 = math.tanh %x : f32
  %3 = math.erf %x : f32
  %4 = math.erfc %x : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @left(
// CHECK:         math.exp %{{.*}} : f64
// CHECK:         math.exp %{{.*}} : bf16
// CHECK:         math.exp %{{.*}} : tensor<4xf32>
// CHECK:         math.sin %{{.*}} : f32
func.func @left(%x: f64, %y: bf16, %z: tensor<4xf32>, %w: f32) -> (f64, bf16, tensor<4xf32>, f32) {
  %0 = math.exp %x : f64
  %1 = math.exp %y : bf16
  %2 = math.exp %z : tensor<4xf32>
  %3 = math.sin %w : f32
  return %0, %1, %2, %3 : f64, bf16, tensor<4xf32>, f32
}
