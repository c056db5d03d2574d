// RUN: fad-opt %s -fad-legalize-for-iree | FileCheck %s
// Executed in fad-legalize-for-iree-run.mlir.

// CHECK-NOT: {{fad\.|erfc}}

// What says what arguments and results are goes; what others wrote stays.
// CHECK: func.func @attributes(%{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: f32 {other.name = 1 : i64}) -> (tensor<4xf32>, f32 {other.name = 2 : i64})
// CHECK-SAME: attributes {other.name}
func.func @attributes(%x: tensor<4xf32> {fad.cotangent = 0}, %s: f32 {other.name = 1})
    -> (tensor<4xf32> {fad.gradient = 0}, f32 {fad.residual, other.name = 2})
    attributes {fad.request = #fad.request<>, other.name} {
  return %x, %s : tensor<4xf32>, f32
}

// CHECK: func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func private @external(tensor<4xf32> {fad.residual}) -> (tensor<4xf32> {fad.residual})

// Narrow types are computed in f32.
// CHECK-LABEL: func.func @half(
// CHECK-SAME: %[[X:[^:]*]]: f16
// CHECK: arith.extf %[[X]] : f16 to f32
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: return %[[Y]]
func.func @half(%x: f16) -> f16 {
  %0 = math.erfc %x : f16
  return %0 : f16
}

// CHECK-LABEL: func.func @tensor(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK: math.exp %{{.*}} : f32
func.func @tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.erfc %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @vector(
// CHECK: math.exp %{{.*}} : vector<8xf32>
func.func @vector(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.erfc %x : vector<8xf32>
  return %0 : vector<8xf32>
}
