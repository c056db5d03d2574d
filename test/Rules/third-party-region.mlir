// An operation with a region and two results, of a dialect that fad does not
// know, has an adjoint there: test_rules.checkpoint.

// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s

// Its gradients are those of the function without checkpoints, which
// canonicalization inlines, and these agree with differences:
// DEFINE: %{entry} =
// DEFINE: %{check} = fad-opt %s --canonicalize | fad-runner - --entry=%{entry} --check-gradients && \
// DEFINE:   fad-opt %s --canonicalize --fad-differentiate=entry=%{entry} \
// DEFINE:   | fad-runner - --entry=%{entry}_joint > %t.inlined && \
// DEFINE:   fad-opt %s --fad-differentiate=entry=%{entry} --canonicalize \
// DEFINE:   | fad-runner - --entry=%{entry}_joint | diff - %t.inlined
// REDEFINE: %{entry} = f
// RUN: %{check}
// REDEFINE: %{entry} = nested
// RUN: %{check}
// REDEFINE: %{entry} = one_result
// RUN: %{check}

// The adjoint has the region again, and cotangents for the operand and for the
// captured value.

// CHECK-LABEL: func.func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<3xf64>, %[[W:.*]]: tensor<3xf64>, %[[GY:[^:]*]]: tensor<3xf64> {{[^,]*}}, %[[GZ:[^:]*]]: tensor<3xf64>
// CHECK:         %[[YZ:.*]]:2 = test_rules.checkpoint %[[X]] :
// CHECK:         %[[G:.*]]:2 = test_rules.checkpoint %[[X]] {fad.adjoint_of = "test_rules.checkpoint"}
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<3xf64>):
// CHECK:           test_rules.yield
// CHECK:         return %[[YZ]]#0, %[[YZ]]#1, %[[G]]#0, %[[G]]#1
func.func @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %y, %z = test_rules.checkpoint %x : (tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  ^bb0(%a: tensor<3xf64>):
    %s = math.sin %a : tensor<3xf64>
    %m = arith.mulf %s, %w : tensor<3xf64>
    %e = math.exp %m : tensor<3xf64>
    test_rules.yield %e, %m : tensor<3xf64>, tensor<3xf64>
  }
  return %y, %z : tensor<3xf64>, tensor<3xf64>
}

// One in another, and both within control flow.
func.func @nested(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%b = %x) -> tensor<3xf64> {
    %y = test_rules.checkpoint %b : (tensor<3xf64>) -> tensor<3xf64> {
    ^bb0(%a: tensor<3xf64>):
      %z, %v = test_rules.checkpoint %w, %a : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
      ^bb0(%c: tensor<3xf64>, %d: tensor<3xf64>):
        %m = arith.mulf %c, %d : tensor<3xf64>
        %s = math.sin %m : tensor<3xf64>
        %t = arith.addf %s, %b : tensor<3xf64>
        test_rules.yield %t, %m : tensor<3xf64>, tensor<3xf64>
      }
      %p = arith.mulf %z, %v : tensor<3xf64>
      test_rules.yield %p : tensor<3xf64>
    }
    scf.yield %y : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}

// A result that nothing reads, an integer, and an operand without a gradient.
func.func @one_result(%x: tensor<3xf64>) -> tensor<3xf64> {
  %k = arith.constant dense<[2.0, -1.0, 0.5]> : tensor<3xf64>
  %n = arith.constant 3 : i32
  %y, %i, %z = test_rules.checkpoint %x, %n, %k : (tensor<3xf64>, i32, tensor<3xf64>) -> (tensor<3xf64>, i32, tensor<3xf64>) {
  ^bb0(%a: tensor<3xf64>, %j: i32, %b: tensor<3xf64>):
    %f = arith.sitofp %j : i32 to f64
    %s = tensor.splat %f : tensor<3xf64>
    %m = arith.mulf %a, %b : tensor<3xf64>
    %p = arith.mulf %m, %s : tensor<3xf64>
    %q = arith.mulf %p, %a : tensor<3xf64>
    test_rules.yield %q, %j, %m : tensor<3xf64>, i32, tensor<3xf64>
  }
  return %y : tensor<3xf64>
}
