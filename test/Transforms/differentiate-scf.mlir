// RUN: fad-opt %s --fad-differentiate=entry=branch | FileCheck %s --check-prefix=BRANCH
// RUN: fad-opt %s --fad-differentiate=entry=loop | FileCheck %s --check-prefix=LOOP
// RUN: fad-opt %s --fad-differentiate=entry=dynamic | FileCheck %s --check-prefix=DYNAMIC
// RUN: fad-opt %s --fad-differentiate=entry=linear | FileCheck %s --check-prefix=LINEAR
// RUN: fad-opt %s --fad-differentiate=entry=rows | FileCheck %s --check-prefix=ROWS
// RUN: fad-opt %s --fad-differentiate=entry=asserts | FileCheck %s --check-prefix=ASSERTS
// RUN: fad-opt %s --fad-nest="entry=branch policy=bp" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="entry=branch policy=recompute" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="entry=branch policy=fad" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="entry=dynamic" | FileCheck %s --check-prefix=STACK

// The branch taken is computed again; what it does not read has zero there.

// BRANCH-LABEL: func.func @branch_joint(
// BRANCH-SAME:    %[[C:[^:]*]]: i1, %[[X:[^:]*]]: tensor<?xf32>, %[[W:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<?xf32> {fad.cotangent = 0 : i64})
// BRANCH:         %[[R:.*]] = scf.if %[[C]] -> (tensor<?xf32>)
// BRANCH:         %[[SIZE:.*]] = tensor.dim %[[W]]
// BRANCH-NEXT:    %[[GRADIENTS:.*]]:2 = scf.if %[[C]] -> (tensor<?xf32>, tensor<?xf32>) {
// BRANCH:           %[[M:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] :
// BRANCH:           fad.elementwise ins(%[[M]], %[[G]] :
// BRANCH:         } else {
// BRANCH-NOT:       tensor.dim
// BRANCH:           %[[EMPTY:.*]] = tensor.empty(%[[SIZE]])
// BRANCH-NEXT:      %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[EMPTY]]
// BRANCH:           scf.yield %{{.*}}, %[[ZERO]]
// BRANCH:         } {fad.adjoint_of = "scf.if"}
// BRANCH:         return %[[R]], %[[GRADIENTS]]#0, %[[GRADIENTS]]#1

// What the branches read crosses, the condition with it, under every policy.

// NEST-LABEL: func.func @branch_forward(
// NEST:         scf.if
// NEST:         return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, {{.*}}i1
// NEST-LABEL: func.func @branch_backward(
// NEST:         scf.if
func.func @branch(%c: i1, %x: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    %m = arith.mulf %x, %w : tensor<?xf32>
    %t = math.exp %m : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  } else {
    %s = math.sin %x : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// What each iteration begins with is stacked; the loop of the adjoint takes the
// stack from its end.

// LOOP-LABEL: func.func @loop_joint(
// LOOP-SAME:    %[[X:[^:]*]]: tensor<3xf32>, %[[W:[^:]*]]: tensor<3xf32>, %[[G:[^:]*]]: tensor<3xf32> {fad.cotangent = 0 : i64})
// LOOP:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// LOOP-NEXT:    %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[C2:.*]] to %{{.*}} step %[[STEP:.*]] iter_args(%[[A:.*]] = %[[X]], %[[TOP:.*]] = %[[EMPTY]])
// LOOP:           %[[D:.*]] = arith.subi %[[I]], %[[C2]]
// LOOP:           %[[N:.*]] = arith.divui %[[D]], %[[STEP]]
// LOOP:           %[[PUSHED:.*]] = tensor.insert_slice %[[A]] into %[[TOP]][%[[N]], 0] [1, 3] [1, 1]
// LOOP:           scf.yield %{{.*}}, %[[PUSHED]]
// LOOP:         %[[GRADIENTS:.*]]:2 = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[GA:.*]] = %[[G]], %[[GW:.*]] = %{{.*}})
// LOOP:           %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}}
// LOOP:           %[[BACK:.*]] = arith.subi %[[LAST]], %[[J]]
// LOOP:           tensor.extract_slice %[[R]]#1[%[[BACK]], 0] [1, 3] [1, 1]
// LOOP:         return %[[R]]#0, %[[GRADIENTS]]#0, %[[GRADIENTS]]#1
func.func @loop(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c2 to %c9 step %c2 iter_args(%a = %x) -> tensor<3xf32> {
    %m = arith.mulf %a, %w : tensor<3xf32>
    scf.yield %m : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// A trip count that is known when the program runs, and sizes as well.

// DYNAMIC-LABEL: func.func @dynamic_joint(
// DYNAMIC-SAME:    %[[LOW:[^:]*]]: index, %[[HIGH:[^:]*]]: index, %[[STEP:[^:]*]]: index, %[[X:[^:]*]]: tensor<?xf32>
// DYNAMIC:         %[[LAST:.*]] = arith.maxsi %[[LOW]], %[[HIGH]]
// DYNAMIC-NEXT:    %[[RANGE:.*]] = arith.subi %[[LAST]], %[[LOW]]
// DYNAMIC-NEXT:    %[[TRIPS:.*]] = arith.ceildivui %[[RANGE]], %[[STEP]]
// DYNAMIC:         %[[SIZE:.*]] = tensor.dim %[[X]]
// DYNAMIC:         tensor.empty(%[[TRIPS]], %[[SIZE]]) : tensor<?x?xf32>
// DYNAMIC:         scf.for
// DYNAMIC:         scf.for

// STACK-LABEL: func.func @dynamic_forward(
// STACK-SAME:    -> (tensor<?xf32>, {{.*}}tensor<?x?xf32> {fad.residual}
// STACK-LABEL: func.func @dynamic_backward(
// STACK:         scf.for
func.func @dynamic(%low: index, %high: index, %step: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.for %i = %low to %high step %step iter_args(%a = %x) -> tensor<?xf32> {
    %s = math.sin %a : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A loop whose adjoint reads nothing of what it carries stacks nothing.

// LINEAR-LABEL: func.func @linear_joint(
// LINEAR-NOT:     tensor.empty() : tensor<5x3xf32>
// LINEAR:         %{{[^:]*}} = scf.for {{.*}} -> (tensor<3xf32>) {
// LINEAR:         %{{.*}}:2 = scf.for {{.*}} -> (tensor<3xf32>, tensor<3xf32>) {
func.func @linear(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<3xf32> {
    %m = arith.subf %w, %a : tensor<3xf32>
    scf.yield %m : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// Rows that iterations read: their cotangents are added into one tensor.

// ROWS-LABEL: func.func @rows_joint(
// ROWS:         scf.for {{.*}} -> (tensor<2xf32>, tensor<5x2xf32>) {
// ROWS:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<2xf32>, tensor<5x2xf32>) {
// ROWS-NOT:       linalg.fill
// ROWS:           %[[ROW:.*]] = tensor.extract_slice %[[SUM]][%{{.*}}, 0] [1, 2] [1, 1]
// ROWS:           %[[ADDED:.*]] = fad.elementwise ins(%[[ROW]], %{{.*}} :
// ROWS:           %[[NEXT:.*]] = tensor.insert_slice %[[ADDED]] into %[[SUM]]
// ROWS:           scf.yield %{{.*}}, %[[NEXT]]
func.func @rows(%x: tensor<5x2xf32>, %start: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %start) -> tensor<2xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<5x2xf32> to tensor<2xf32>
    %m = arith.mulf %a, %row : tensor<2xf32>
    scf.yield %m : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// Assertions hold in the forward part; backward does not repeat them.

// ASSERTS-LABEL: func.func @asserts_joint(
// ASSERTS:         scf.if
// ASSERTS:           cf.assert
// ASSERTS:           linalg.generic
// ASSERTS:             cf.assert
// ASSERTS:         scf.if
// ASSERTS-NOT:       cf.assert
// ASSERTS:         return
func.func @asserts(%c: i1, %x: tensor<4xf32>, %n: tensor<4xindex>) -> tensor<4xf32> {
  %limit = arith.constant 4 : index
  %r = scf.if %c -> tensor<4xf32> {
    cf.assert %c, "taken"
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
        ins(%x, %n : tensor<4xf32>, tensor<4xindex>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %k: index, %o: f32):
      %ok = arith.cmpi slt, %k, %limit : index
      cf.assert %ok, "label"
      %t = arith.mulf %a, %a : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
