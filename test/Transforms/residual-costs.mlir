// RUN: fad-opt %s --fad-differentiate --test-fad-residuals 2>&1 -o /dev/null | FileCheck %s --check-prefix=AUTO
// RUN: fad-opt %s --fad-differentiate --test-fad-residuals=max-states=1 2>&1 -o /dev/null | FileCheck %s --check-prefix=MANY
// RUN: fad-opt %s --fad-differentiate --test-fad-residuals=policies=bp,recompute,fad 2>&1 -o /dev/null | FileCheck %s --check-prefix=RULES
// RUN: fad-opt %s --fad-differentiate --test-fad-residuals=plain 2>&1 -o /dev/null | FileCheck %s --check-prefix=PLAIN
// RUN: not fad-opt %s --fad-differentiate --test-fad-residuals=policies=none 2>&1 | FileCheck %s --check-prefix=NONE

// Tests of many programs stand on what this pass says. Here the hidden layer has
// 512 bytes: two tensors of that size where nothing is computed again, the result of
// the activation and its derivative, and else one, its source. A cut that keeps no
// derivative needs the source for that.

// AUTO: remark: {"function":"layer_joint","nothing":{"bytes":1024,"equal":true,"least":[1024,[[TIME:[0-9]+]]],"chosen":[1024,[[TIME]]],"cut":[1024,[[TIME]]]},
// AUTO-SAME: "elementwise":{"bytes":512,"equal":true,"least":[512,[[TIME:[0-9]+]]],"chosen":[512,[[TIME]]],"cut":[512,[[TIME]]]}
// MANY: remark: {"function":"layer_joint","nothing":{"bytes":1024,"equal":true,"chosen":[1024,{{[0-9]+}}]},
// RULES: remark: {"function":"layer_joint","bp":1024,"recompute":512,"fad":1024}
// PLAIN: remark: {"function":"layer_joint","nothing":1024,"elementwise":512,"reductions":512,"all":512}
// NONE: error: there is no policy 'none'

func.func @layer(%x: tensor<8x4xf32>, %v: tensor<4x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x4xf32>, tensor<4x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = fad.elementwise ins(%h : tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%a: f32):
    %s = fad.gelu %a : f32
    fad.yield %s : f32
  }
  %e1 = tensor.empty() : tensor<8x4xf32>
  %g = linalg.fill ins(%z : f32) outs(%e1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%y, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%g : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
