// RUN: fad-opt %s --fad-fuse --remarks-filter=fad-fuse -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:

// The numbers of fusions, and the reason of each operation that stays apart.

// CHECK: fuse-remarks.mlir:[[#@LINE+1]]:1: remark: [Passed] Fused | Category:fad-fuse | Function=fused | Producers=1, Siblings=1
func.func @fused(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = fad.elementwise ins(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    fad.yield %s1 : f32
  }
  %q = fad.elementwise ins(%p, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    fad.yield %s1 : f32
  }
  %r = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32):
    %s0 = math.exp %a0 : f32
    fad.yield %s0 : f32
  }
  return %q, %r : tensor<4xf32>, tensor<4xf32>
}

// CHECK: fuse-remarks.mlir:[[#@LINE+2]]:8: remark: [Missed] NotFused | Category:fad-fuse | Function=between | Because="an operation that is not elementwise stands before its reader"
func.func @between(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %p = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32):
    %s0 = math.exp %a0 : f32
    fad.yield %s0 : f32
  }
  %v = linalg.vecmat ins(%x, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %q = fad.elementwise ins(%p, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    fad.yield %s1 : f32
  }
  return %q : tensor<4xf32>
}

// CHECK: fuse-remarks.mlir:[[#@LINE+12]]:8: remark: [Missed] NotFused | {{.*}}Function=later | Because="an operand is computed after the operation to join"
func.func @later(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %p = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32):
    %s0 = math.exp %a0 : f32
    fad.yield %s0 : f32
  }
  %b = fad.elementwise ins(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32):
    %s0 = math.exp %a0 : f32
    fad.yield %s0 : f32
  }
  %c = fad.elementwise ins(%x, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    fad.yield %s1 : f32
  }
  return %p, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: fuse-remarks.mlir:[[#@LINE+3]]:8: remark: [Missed] NotFused | {{.*}}Function=producer | Because="it and its reader have more than 16 tensors"
// CHECK: remark: [Missed] NotFused | {{.*}}Function=producer | Because="it and a reader of the same tensor have more than 16 tensors"
func.func @producer(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>, %i: tensor<4xf32>, %j: tensor<4xf32>, %k: tensor<4xf32>, %l: tensor<4xf32>) -> tensor<4xf32> {
  %p = fad.elementwise ins(%a, %b, %c, %d, %e, %f, %g, %h, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    %s7 = arith.mulf %s6, %a7 : f32
    %s8 = arith.mulf %s7, %a8 : f32
    fad.yield %s8 : f32
  }
  %q = fad.elementwise ins(%p, %g, %h, %i, %j, %k, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    fad.yield %s6 : f32
  }
  return %q : tensor<4xf32>
}

// CHECK: fuse-remarks.mlir:[[#@LINE+15]]:8: remark: [Missed] NotFused | {{.*}}Function=siblings | Because="it and a reader of the same tensor have more than 16 tensors"
func.func @siblings(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>, %i: tensor<4xf32>, %j: tensor<4xf32>, %k: tensor<4xf32>, %l: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = fad.elementwise ins(%a, %b, %c, %d, %e, %f, %g, %h, %i, %j : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %a9: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    %s7 = arith.mulf %s6, %a7 : f32
    %s8 = arith.mulf %s7, %a8 : f32
    %s9 = arith.mulf %s8, %a9 : f32
    fad.yield %s9 : f32
  }
  %q = fad.elementwise ins(%f, %g, %h, %i, %j, %k, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    fad.yield %s6 : f32
  }
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// The first of two reasons.
// CHECK: fuse-remarks.mlir:[[#@LINE+15]]:13: remark: [Missed] NotFused | {{.*}}Function=twice | Because="it and its reader have more than 16 tensors"
func.func @twice(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>, %i: tensor<4xf32>, %j: tensor<4xf32>, %k: tensor<4xf32>, %l: tensor<4xf32>, %m: tensor<4xf32>, %n: tensor<4xf32>, %o: tensor<4xf32>, %p: tensor<4xf32>, %q: tensor<4xf32>, %r: tensor<4xf32>, %s: tensor<4xf32>, %t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %first = fad.elementwise ins(%a, %b, %c, %d, %e, %f, %g, %h, %i, %j : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %a9: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    %s7 = arith.mulf %s6, %a7 : f32
    %s8 = arith.mulf %s7, %a8 : f32
    %s9 = arith.mulf %s8, %a9 : f32
    fad.yield %s9 : f32
  }
  %second = fad.elementwise ins(%f, %g, %h, %i, %j, %k, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    fad.yield %s6 : f32
  }
  %third = fad.elementwise ins(%second, %m, %n, %o, %p, %q, %r, %s, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32):
    %s1 = arith.mulf %a0, %a1 : f32
    %s2 = arith.mulf %s1, %a2 : f32
    %s3 = arith.mulf %s2, %a3 : f32
    %s4 = arith.mulf %s3, %a4 : f32
    %s5 = arith.mulf %s4, %a5 : f32
    %s6 = arith.mulf %s5, %a6 : f32
    %s7 = arith.mulf %s6, %a7 : f32
    %s8 = arith.mulf %s7, %a8 : f32
    fad.yield %s8 : f32
  }
  return %first, %third : tensor<4xf32>, tensor<4xf32>
}
