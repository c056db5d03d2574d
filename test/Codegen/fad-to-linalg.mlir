// RUN: fad-opt %s -fad-to-linalg -canonicalize | FileCheck %s
// What is left has nothing of fad in it that another compiler would need to
// know:
// RUN: fad-opt %s -fad-to-linalg | mlir-opt -o /dev/null

// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<() -> ()>

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf32>, %[[S:[^:]*]]: f32, %[[N:[^:]*]]: tensor<?x4xi32>)
func.func @elementwise(%x: tensor<?x4xf32>, %s: f32, %n: tensor<?x4xi32>)
    -> (tensor<?x4xf32>, tensor<?x4xi1>) {
  // CHECK-DAG: %[[DIM:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x4xf32>
  // CHECK-DAG: %[[OUT0:.*]] = tensor.empty(%[[DIM]]) : tensor<?x4xf32>
  // CHECK-DAG: %[[OUT1:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xi1>
  // CHECK:      %[[R:.*]]:2 = linalg.generic
  // CHECK-SAME:   indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]], #[[MAP]]]
  // CHECK-SAME:   iterator_types = ["parallel", "parallel"]
  // CHECK-SAME:   ins(%[[X]], %[[N]] : tensor<?x4xf32>, tensor<?x4xi32>)
  // CHECK-SAME:   outs(%[[OUT0]], %[[OUT1]] : tensor<?x4xf32>, tensor<?x4xi1>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[C:.*]]: i32, %{{.*}}: f32, %{{.*}}: i1):
  // CHECK-NEXT:   %[[POWER:.*]] = math.fpowi %[[A]], %[[C]] : f32, i32
  // CHECK-NEXT:   %[[PRODUCT:.*]] = arith.mulf %[[POWER]], %[[S]] : f32
  // CHECK-NEXT:   %[[LESS:.*]] = arith.cmpf olt, %[[A]], %[[PRODUCT]] : f32
  // CHECK-NEXT:   linalg.yield %[[PRODUCT]], %[[LESS]] : f32, i1
  // CHECK:      return %[[R]]#0, %[[R]]#1
  %0:2 = fad.elementwise ins(%x, %s, %n : tensor<?x4xf32>, f32, tensor<?x4xi32>)
      attributes {fad.region = 0, fad.class = #fad.class<fad>}
      -> tensor<?x4xf32>, tensor<?x4xi1> {
  ^bb0(%a: f32, %b: f32, %c: i32):
    %power = math.fpowi %a, %c {fad.tape} : f32, i32
    %product = arith.mulf %power, %b {fad.adjoint_of = "math.exp"} : f32
    %less = arith.cmpf olt, %a, %product : f32
    fad.yield %product, %less : f32, i1
  }
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xi1>
}

// A scalar tensor has a loop of no dimensions. The operand that gives the shape
// is not read when the body ignores it.
// CHECK-LABEL: func.func @rank_zero(
// CHECK-SAME:    %{{.*}}: tensor<f32>, %[[S:.*]]: f32)
func.func @rank_zero(%x: tensor<f32>, %s: f32) -> tensor<f32> {
  // CHECK: linalg.generic {indexing_maps = [#[[SCALAR]]], iterator_types = []} outs(%{{.*}} : tensor<f32>)
  // CHECK: linalg.yield %[[S]] : f32
  %0 = fad.elementwise ins(%x, %s : tensor<f32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    fad.yield %b : f32
  }
  return %0 : tensor<f32>
}

// Sizes that only some types state.
// CHECK-LABEL: func.func @mixed_sizes(
func.func @mixed_sizes(%x: tensor<4x?xf32>, %y: tensor<?x5xf32>) -> tensor<?x?xf32> {
  // CHECK: linalg.generic
  // CHECK: return %{{.*}} : tensor<?x?xf32>
  %0 = fad.elementwise ins(%x, %y : tensor<4x?xf32>, tensor<?x5xf32>) -> tensor<?x?xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32> {fad.residual},
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {fad.cotangent = 0 : i64}) -> (tensor<4xf32> {fad.gradient = 0 : i64})
// CHECK-NOT:     fad.request
func.func @residual(%x: tensor<4xf32> {fad.residual}, %ct: tensor<4xf32> {fad.cotangent = 0})
    -> (tensor<4xf32> {fad.gradient = 0}) attributes {fad.request = #fad.request<>} {
  // CHECK: return %[[X]]
  %0 = fad.residual %x needed_by ["fad.gelu"] reason "derivative" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @primitives(
// CHECK-NOT:     fad.
func.func @primitives(%x: tensor<?xf32>, %s: f32) -> (tensor<?xf32>, f32) {
  // CHECK: linalg.generic
  // CHECK: linalg.generic
  %0 = fad.relu %x : tensor<?xf32>
  %1 = fad.elementwise ins(%0, %s : tensor<?xf32>, f32) -> tensor<?xf32> {
  ^bb0(%a: f32, %b: f32):
    %2 = fad.gelu %a : f32
    fad.yield %2 : f32
  }
  %3 = fad.sigmoid %s : f32
  return %1, %3 : tensor<?xf32>, f32
}

// A switch on tensors becomes conditionals; bufferization takes it wrongly.

// CHECK-LABEL: func.func @switch(
// CHECK-SAME:    %[[I:.*]]: index, %[[X:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[NEGATIVE:.*]] = arith.constant -1 : index
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %[[TWO]]
// CHECK:         %[[R:.*]]:2 = scf.if %[[FIRST]] -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK:           %[[SIN:.*]] = math.sin %[[X]]
// CHECK:           scf.yield %[[SIN]], %[[SIN]]
// CHECK:         } else {
// CHECK:           %[[SECOND:.*]] = arith.cmpi eq, %[[I]], %[[NEGATIVE]]
// CHECK:           %[[INNER:.*]]:2 = scf.if %[[SECOND]] -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK:             %[[COS:.*]] = math.cos %[[X]]
// CHECK:             scf.yield %[[COS]], %[[X]]
// CHECK:           } else {
// CHECK:             %[[TAN:.*]] = math.tan %[[X]]
// CHECK:             scf.yield %[[X]], %[[TAN]]
// CHECK:           }
// CHECK:           scf.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK:         return %[[R]]#0, %[[R]]#1, %[[X]]
func.func @switch(%i: index, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.index_switch %i -> tensor<4xf32>, tensor<4xf32>
  case 2 {
    %sin = math.sin %x : tensor<4xf32>
    scf.yield %sin, %sin : tensor<4xf32>, tensor<4xf32>
  }
  case -1 {
    %cos = math.cos %x : tensor<4xf32>
    scf.yield %cos, %x : tensor<4xf32>, tensor<4xf32>
  }
  default {
    %tan = math.tan %x : tensor<4xf32>
    scf.yield %x, %tan : tensor<4xf32>, tensor<4xf32>
  }
  %s = scf.index_switch %i -> tensor<4xf32>
  default {
    scf.yield %x : tensor<4xf32>
  }
  return %r#0, %r#1, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
