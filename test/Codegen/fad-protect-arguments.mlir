// RUN: fad-opt %s -fad-protect-arguments | FileCheck %s
// Executed in test/Pipelines/to-cpu-run.mlir.

// CHECK: func.func @public(
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {bufferization.writable = false}, %{{[^:]*}}: f32,
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {bufferization.writable = true})
func.func @public(%x: tensor<4xf32>, %s: f32, %y: tensor<4xf32> {bufferization.writable = true}) {
  return
}

// CHECK: func.func private @private(%{{[^:]*}}: tensor<4xf32>)
func.func private @private(%x: tensor<4xf32>) {
  return
}

// CHECK: func.func private @external(tensor<4xf32>)
func.func private @external(tensor<4xf32>)
