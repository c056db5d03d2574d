// RUN: fad-opt %s --fad-nest | FileCheck %s --check-prefixes=CHECK,FAD
// RUN: fad-opt %s --fad-nest="policy=fad entry=ffn wrt=0,1,2" | FileCheck %s --check-prefixes=CHECK,FAD
// RUN: fad-opt %s --fad-nest=policy=recompute | FileCheck %s --check-prefixes=CHECK,RECOMPUTE
// RUN: fad-opt %s --fad-nest=policy=bp | FileCheck %s --check-prefixes=CHECK,BP
// RUN: fad-opt %s --fad-nest="policy=bp wrt=1" | FileCheck %s --check-prefix=ONE

// The pair: results and then residuals; residuals and cotangents to gradients.

// CHECK-LABEL: func @ffn_forward(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf32>, %[[W:[^:]*]]: tensor<4x8xf32>, %[[B:[^:]*]]: tensor<8xf32>)
// CHECK-SAME:    -> (tensor<?x8xf32>,
// CHECK:         %[[PRE:.*]] = linalg.generic

// One kernel for value and derivative.
// FAD:           %[[Y:.*]]:2 = fad.elementwise ins(%[[PRE]] : tensor<?x8xf32>) -> tensor<?x8xf32>, tensor<?x8xf32> {
// FAD-NEXT:      ^bb0(%[[IN:.*]]: f32):
// FAD:             fad.silu %[[IN]]
// FAD:           return %[[Y]]#0, %[[Y]]#1, %{{.*}}, %{{.*}} :

// The source alone.
// RECOMPUTE:     %[[Y:.*]] = fad.elementwise ins(%[[PRE]] : tensor<?x8xf32>) -> tensor<?x8xf32> {
// RECOMPUTE:     return %[[Y]], %[[PRE]], %{{.*}}, %{{.*}} :

// The operands of the multiplication: source and sigmoid.
// BP:            %[[Y:.*]]:2 = fad.elementwise ins(%[[PRE]] : tensor<?x8xf32>) -> tensor<?x8xf32>, tensor<?x8xf32> {
// BP:              fad.sigmoid
// BP:            return %[[Y]]#0, %[[Y]]#1, %[[PRE]], %{{.*}}, %{{.*}} :

// CHECK-LABEL: func @ffn_backward(
// CHECK-SAME:    %{{[^:]*}}: tensor<?x8xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (tensor<?x4xf32> {fad.gradient = 0 : i64}, tensor<4x8xf32> {fad.gradient = 1 : i64}, tensor<8xf32> {fad.gradient = 2 : i64})
// FAD:           fad.elementwise
// FAD-NEXT:      ^bb0(%[[G:.*]]: f32, %[[D:.*]]: f32):
// FAD-NEXT:        %[[P:.*]] = arith.mulf %[[G]], %[[D]]
// FAD-NEXT:        fad.yield %[[P]]
// CHECK-COUNT-2: = linalg.matmul

// ONE-LABEL:   func @ffn_backward(
// ONE-SAME:      -> (tensor<4x8xf32> {fad.gradient = 1 : i64})
// ONE:           = linalg.matmul
// ONE-NOT:       = linalg.matmul
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @ffn(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %pre = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %sigmoid = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%pre : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %neg = arith.negf %a : f32
    %exp = math.exp %neg : f32
    %den = arith.addf %exp, %one : f32
    %s = arith.divf %one, %den : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%pre, %sigmoid : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.mulf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
