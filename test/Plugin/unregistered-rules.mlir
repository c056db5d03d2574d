// The plugin of the passes alone brings no rules of upstream's dialects. That is said
// where one is missing, once for each operation, and the plugin of the dialect helps.
// UNSUPPORTED: sanitizers
// RUN: not mlir-opt %s --load-pass-plugin=%fad_plugin --mlir-print-op-on-diagnostic=false \
// RUN:   --pass-pipeline='builtin.module(fad-nest)' 2>&1 | FileCheck %s
// RUN: mlir-opt %s --load-pass-plugin=%fad_plugin --load-dialect-plugin=%fad_plugin \
// RUN:   --pass-pipeline='builtin.module(fad-nest)' | FileCheck %s --check-prefix=RULES

// CHECK:     unregistered-rules.mlir:[[@LINE+6]]:8: error: 'arith.mulf' op has no derivative rule, because no derivative rules are registered for arith: call fad::registerAllRules (in C, fadRegisterDialects) with the registry of the context, or load fad's dialect plugin
// CHECK:     unregistered-rules.mlir:[[@LINE+4]]:8: error: 'math.tanh' op has no derivative rule, because no derivative rules are registered for math: call
// CHECK-NOT: rewrite it
// RULES:     func.func @f_backward
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  %z = arith.mulf %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
