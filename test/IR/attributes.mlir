// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -emit-bytecode | fad-opt | FileCheck %s

// CHECK: func.func @request(
// CHECK-SAME: attributes {fad.request = #fad.request<wrt = [0, 1]>}
func.func @request(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<wrt = [0, 1]>} {
  return %x : tensor<4xf32>
}

// CHECK: func.func @request_all(
// CHECK-SAME: attributes {fad.request = #fad.request<>}
func.func @request_all(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<>} {
  return %x : tensor<4xf32>
}

// CHECK: func.func @request_results(
// CHECK-SAME: attributes {fad.request = #fad.request<results = [0]>}
func.func @request_results(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<results = [0]>} {
  return %x : tensor<4xf32>
}

// CHECK: func.func @request_both(
// CHECK-SAME: attributes {fad.request = #fad.request<wrt = [0], results = [1, 0]>}
func.func @request_both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {fad.request = #fad.request<wrt = [0], results = [1, 0]>} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func @joint(
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {fad.residual},
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME: -> (tensor<4xf32> {fad.residual}, tensor<4xf32> {fad.gradient = 1 : i64})
func.func @joint(%x: tensor<4xf32> {fad.residual}, %ct: tensor<4xf32> {fad.cotangent = 0})
    -> (tensor<4xf32> {fad.residual}, tensor<4xf32> {fad.gradient = 1}) {
  return %x, %ct : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func @forward(
// CHECK-SAME: attributes {fad.pullback = @joint}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fad.pullback = @joint} {
  return %x : tensor<4xf32>
}

// CHECK: func.func @owned(%{{[^:]*}}: tensor<4xf32> {fad.owned})
func.func @owned(%x: tensor<4xf32> {fad.owned}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @inspection(
func.func @inspection(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.exp %{{.*}} {fad.class = #fad.class<fad>, fad.region = 0 : i64}
  %0 = math.exp %x {fad.class = #fad.class<fad>, fad.region = 0} : tensor<4xf32>
  // CHECK: arith.mulf %{{.*}}, %{{.*}} {fad.class = #fad.class<nfad>, fad.tape}
  %1 = arith.mulf %0, %x {fad.class = #fad.class<nfad>, fad.tape} : tensor<4xf32>
  // CHECK: arith.addf %{{.*}}, %{{.*}} {fad.adjoint_of = "math.exp"}
  %2 = arith.addf %1, %1 {fad.adjoint_of = "math.exp"} : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The policies are attributes too, so that a module can carry the choice.
// CHECK: policy = #fad.policy<bp>
// CHECK: policy = #fad.policy<recompute>
// CHECK: policy = #fad.policy<fad>
func.func private @a() attributes {policy = #fad.policy<bp>}
func.func private @b() attributes {policy = #fad.policy<recompute>}
func.func private @c() attributes {policy = #fad.policy<fad>}
