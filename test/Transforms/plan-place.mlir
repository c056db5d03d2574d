// RUN: fad-translate --fad-to-plan %s | FileCheck %s

// The plan says which residuals wait on the host.

// CHECK:      "saved": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "bytes": 128,
// CHECK-NEXT:     "name": "s",
// CHECK-NEXT:     "place": "host",
func.func @joint(%x: tensor<4x8xf32> {fad.nodes = ["x"]}, %g: tensor<4x8xf32> {fad.nodes = ["g"], fad.cotangent = 0 : i64})
    -> (tensor<4x8xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %s = fad.opaque "sin" keep (%x) {fad.nodes = ["s"]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = fad.residual %s on host needed_by ["sum"] reason "read by an adjoint" : tensor<4x8xf32>
  %d = fad.opaque "sum" keep (%g, %r) {fad.nodes = ["sum"]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %s, %d : tensor<4x8xf32>, tensor<4x8xf32>
}
