// Effects that no cotangent depends on happen once, in the forward part.

// RUN: fad-opt %s --fad-nest | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=recompute | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=bp | FileCheck %s
// RUN: fad-runner %s --check-gradients --policy=bp --arg=random:0 --arg=3
// RUN: fad-runner %s --check-gradients --policy=recompute --arg=random:0 --arg=3
// RUN: fad-runner %s --check-gradients --policy=fad --arg=random:0 --arg=3
// RUN: not fad-runner %s --policy=fad --arg=random:0 --arg=4 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: differentiate-effects.mlir:[[#@LINE+34]]:5: error: assertion failed: label out of range

// An assertion about a label, in a body whose adjoint computes the body again; a
// seed that advances once a step; an assertion about a sign, which depends on
// what is differentiated without being on the path.

// CHECK-LABEL: func.func @step_forward(
// CHECK:         ml_program.global_load @seed
// CHECK:         ml_program.global_store @seed
// CHECK:         cf.assert
// CHECK:         linalg.generic
// CHECK:           cf.assert
// CHECK-LABEL: func.func @step_backward(
// CHECK-NOT:     ml_program
// CHECK-NOT:     cf.assert
// CHECK:         return
ml_program.global private mutable @seed(dense<7> : tensor<i64>) : tensor<i64>
func.func @step(%x: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 4 : i64
  %least = arith.constant -100.0 : f32
  %one = arith.constant dense<1> : tensor<i64>
  %s = ml_program.global_load @seed : tensor<i64>
  %next = arith.addi %s, %one : tensor<i64>
  ml_program.global_store @seed = %next : tensor<i64>
  %first = tensor.extract %x[%c0] : tensor<4xf32>
  %finite = arith.cmpf ogt, %first, %least : f32
  cf.assert %finite, "first element too small"
  %e = tensor.empty() : tensor<4xf32>
  %v = tensor.extract %s[] : tensor<i64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %n : tensor<4xf32>, tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %k: i64, %o: f32):
    %ok = arith.cmpi slt, %k, %limit : i64
    cf.assert %ok, "label out of range"
    %f = arith.sitofp %v : i64 to f32
    %m = arith.mulf %a, %f : f32
    %p = arith.mulf %m, %a : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
