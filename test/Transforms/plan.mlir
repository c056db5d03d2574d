// RUN: fad-opt %s --fad-extract-coefficients --fad-select-residuals=policy=fad | fad-translate --fad-to-plan | FileCheck %s

// The product of two factors is a new node, which is saved; the multiplication by the
// cotangent is another one, in the place of two of the graph.

// CHECK:      "new": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "args": [
// CHECK-NEXT:       "c",
// CHECK-NEXT:       "s"
// CHECK-NEXT:     ],
// CHECK-NEXT:     "name": "fad_0",
// CHECK-NEXT:     "op": "arith.mulf",
// CHECK-NEXT:     "type": "f32"
// CHECK-NEXT:   },
// CHECK-NEXT:   {
// CHECK-NEXT:     "args": [
// CHECK-NEXT:       "g",
// CHECK-NEXT:       "fad_0"
// CHECK-NEXT:     ],
// CHECK-NEXT:     "name": "fad_1",
// CHECK-NEXT:     "op": "arith.mulf",
// CHECK-NEXT:     "type": "f32"
// CHECK-NEXT:   }
// CHECK-NEXT: ],
// CHECK-NEXT: "operands": {
// CHECK-NEXT:   "sum": [
// CHECK-NEXT:     "fad_1"
// CHECK-NEXT:   ]
// CHECK-NEXT: },
// CHECK-NEXT: "results": [
// CHECK-NEXT:   "s",
// CHECK-NEXT:   "sum"
// CHECK-NEXT: ],
// CHECK-NEXT: "saved": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "bytes": 128,
// CHECK-NEXT:     "name": "fad_0",
// CHECK-NEXT:     "place": "device",
// CHECK-NEXT:     "reason": "derivative of a region"
// CHECK-NEXT:   }
// CHECK-NEXT: ]
func.func @joint(%x: tensor<4x8xf32> {fad.nodes = ["x"]}, %g: tensor<4x8xf32> {fad.nodes = ["g"], fad.cotangent = 0 : i64})
    -> (tensor<4x8xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %s = fad.opaque "sin" keep (%x) {fad.nodes = ["s"]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = fad.opaque "cos" keep (%x) {fad.nodes = ["c"]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = fad.elementwise ins(%g, %s : tensor<4x8xf32>, tensor<4x8xf32>) attributes {fad.nodes = ["a"]} -> tensor<4x8xf32> {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    fad.yield %p : f32
  }
  %b = fad.elementwise ins(%a, %c : tensor<4x8xf32>, tensor<4x8xf32>) attributes {fad.nodes = ["b"]} -> tensor<4x8xf32> {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    fad.yield %p : f32
  }
  %d = fad.opaque "sum" keep (%b) {fad.nodes = ["sum"]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %s, %d : tensor<4x8xf32>, tensor<4x8xf32>
}
