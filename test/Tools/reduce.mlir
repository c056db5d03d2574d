// A script says which modules show the bug, here a rule that is missing. What has
// nothing to do with it goes.
// UNSUPPORTED: sanitizers
// RUN: env FAD_OPT=%fad_tools_dir/fad-opt fad-reduce %s \
// RUN:   --reduction-tree="traversal-mode=0 test=%S/Inputs/has_no_rule.sh" | FileCheck %s

// CHECK-NOT: @other
// CHECK-NOT: linalg.matmul
// CHECK:     func.func @f
// CHECK-NOT: fad.silu
// CHECK:     test_rules.no_rule
// CHECK-NOT: linalg.matmul
// CHECK-NOT: @other

func.func private @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = math.exp %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = fad.silu %x : tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = test_rules.no_rule %x : tensor<4x4xf32>
  %3 = math.tanh %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
