// The stock mlir-opt loads the dialect, the passes and the pipelines.
// UNSUPPORTED: sanitizers
// RUN: mlir-opt %s --load-dialect-plugin=%fad_plugin --load-pass-plugin=%fad_plugin \
// RUN:   --pass-pipeline='builtin.module(fad-nest{policy=fad})' | FileCheck %s

// CHECK-LABEL: func.func @silu_forward
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>
// CHECK-SAME:    -> (tensor<?xf32>, tensor<?xf32> {fad.residual})
// CHECK-LABEL: func.func @silu_backward
// CHECK-SAME:    tensor<?xf32> {fad.residual}
// CHECK-SAME:    tensor<?xf32> {fad.cotangent = 0
func.func @silu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = fad.silu %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
