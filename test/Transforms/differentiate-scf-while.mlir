// RUN: fad-opt %s --fad-differentiate=entry=converge | FileCheck %s --check-prefix=CONVERGE
// RUN: fad-opt %s --fad-differentiate=entry=countdown | FileCheck %s --check-prefix=COUNTDOWN
// RUN: fad-opt %s --fad-differentiate=entry=counted | FileCheck %s --check-prefix=COUNTED
// RUN: fad-opt %s --fad-differentiate=entry=guarded | FileCheck %s --check-prefix=GUARDED
// RUN: fad-opt %s --fad-differentiate=entry=aside | FileCheck %s --check-prefix=ASIDE
// RUN: fad-opt %s --fad-differentiate=entry=choose | FileCheck %s --check-prefix=CHOOSE
// RUN: fad-opt %s --fad-nest="entry=converge" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-nest="entry=inlined policy=bp" | FileCheck %s --check-prefix=INLINED

// One loop finds out how many iterations there are; a second one runs them, and
// stacks what they begin with. What follows the last one is computed after it.

// CONVERGE-LABEL: func.func @converge_joint(
// CONVERGE-SAME:    %[[X:[^:]*]]: tensor<f32>, %[[Y:[^:]*]]: tensor<f32>, %[[G:[^:]*]]: tensor<f32> {fad.cotangent = 0 : i64})
// CONVERGE:         %[[COUNT:.*]]:2 = scf.while (%[[A:.*]] = %[[X]], %[[K:.*]] = %{{.*}}) : (tensor<f32>, index) -> (tensor<f32>, index) {
// CONVERGE:           scf.condition(%{{.*}}) %[[A]], %[[K]]
// CONVERGE:         } do {
// CONVERGE:           arith.addi %{{.*}}, %{{.*}} : index
// CONVERGE:         %[[STACK:.*]] = tensor.empty(%[[TRIPS:.*]]) : tensor<?xf32>
// CONVERGE:         %[[LOOP:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %[[COUNT]]#1 step %{{.*}} iter_args(%{{.*}} = %[[X]], %{{.*}} = %[[STACK]])
// CONVERGE-NOT:       cmpf
// CONVERGE:           tensor.insert_slice
// CONVERGE:         %[[SIN:.*]] = linalg.generic {{.*}} ins(%[[LOOP]]#0 :
// CONVERGE:           math.sin
// CONVERGE:         %[[GSIN:.*]] = fad.elementwise ins(%[[LOOP]]#0, %[[G]] :
// CONVERGE:         %[[GRADIENTS:.*]]:2 = scf.for {{.*}} to %[[TRIPS]] step %{{.*}} iter_args(%{{.*}} = %[[GSIN]],
// CONVERGE:         return %[[SIN]], %[[GRADIENTS]]#0, %[[GRADIENTS]]#1

// NEST-LABEL: func.func @converge_forward(
// NEST-SAME:    -> (tensor<f32>, {{.*}}tensor<?xf32> {fad.residual}
// NEST:         scf.while
// NEST:         scf.for
// NEST-LABEL: func.func @converge_backward(
// NEST-NOT:     scf.while
// NEST:         scf.for
func.func @converge(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %limit = arith.constant 0.5 : f32
  %r:2 = scf.while (%a = %x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %e = tensor.extract %a[] : tensor<f32>
    %c = arith.cmpf ogt, %e, %limit : f32
    %s = math.sin %a : tensor<f32>
    scf.condition(%c) %a, %s : tensor<f32>, tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>, %s: tensor<f32>):
    %m = arith.mulf %a, %y : tensor<f32>
    scf.yield %m : tensor<f32>
  }
  return %r#1 : tensor<f32>
}

// What the condition does not depend on is not computed to count.

// COUNTDOWN-LABEL: func.func @countdown_joint(
// COUNTDOWN-SAME:    %[[N:[^:]*]]: i32,
// COUNTDOWN:         scf.while (%{{.*}} = %[[N]], %{{.*}} = %{{.*}}) : (i32, index) -> (i32, index) {
// COUNTDOWN-NOT:       math.sin
// COUNTDOWN:         scf.for
func.func @countdown(%n: i32, %x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%i = %n, %a = %x) : (i32, tensor<3xf32>) -> (i32, tensor<3xf32>) {
    %c = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%c) %i, %a : i32, tensor<3xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<3xf32>):
    %s = math.sin %a : tensor<3xf32>
    %next = arith.subi %i, %one : i32
    scf.yield %next, %s : i32, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// A loop that counts up to a bound is an scf.for already.

// COUNTED-LABEL: func.func @counted_joint(
// COUNTED-NOT:     scf.while
// COUNTED:         scf.for
// COUNTED:         scf.for
func.func @counted(%n: index, %x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<3xf32>) -> (index, tensor<3xf32>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %a : index, tensor<3xf32>
  } do {
  ^bb0(%i: index, %a: tensor<3xf32>):
    %s = math.sin %a : tensor<3xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %s : index, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// An assertion holds while iterations are counted, and nowhere else.

// GUARDED-LABEL: func.func @guarded_joint(
// GUARDED:         scf.while
// GUARDED:           cf.assert
// GUARDED:         scf.for
// GUARDED-NOT:     cf.assert
// GUARDED:         return
func.func @guarded(%x: tensor<8xf32>) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<f32>
  %r:2 = scf.while (%i = %c1, %a = %one) : (index, tensor<f32>) -> (index, tensor<f32>) {
    %c = arith.cmpi ne, %i, %c8 : index
    scf.condition(%c) %i, %a : index, tensor<f32>
  } do {
  ^bb0(%i: index, %a: tensor<f32>):
    %inside = arith.cmpi ult, %i, %c8 : index
    cf.assert %inside, "index"
    %slice = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<f32>
    %m = arith.mulf %a, %slice : tensor<f32>
    %next = arith.addi %i, %i : index
    scf.yield %next, %m : index, tensor<f32>
  }
  return %r#1 : tensor<f32>
}

// A loop that no gradient goes through stays.

// ASIDE-LABEL: func.func @aside_joint(
// ASIDE:         %[[R:.*]]:2 = scf.while
// ASIDE-NOT:     scf.for
// ASIDE:         return
func.func @aside(%n: i32, %x: tensor<3xf32>) -> tensor<3xf32> {
  %one = arith.constant 1 : i32
  %start = arith.constant 1.0 : f32
  %r:2 = scf.while (%i = %n, %a = %start) : (i32, f32) -> (i32, f32) {
    %c = arith.cmpi sgt, %i, %one : i32
    scf.condition(%c) %i, %a : i32, f32
  } do {
  ^bb0(%i: i32, %a: f32):
    %next = arith.divsi %i, %i : i32
    %b = arith.addf %a, %a : f32
    scf.yield %next, %b : i32, f32
  }
  %splat = tensor.splat %r#1 : tensor<3xf32>
  %m = arith.mulf %x, %splat : tensor<3xf32>
  return %m : tensor<3xf32>
}

// The adjoint of a switch switches on the same number; what a case does not read
// has zeros there.

// CHOOSE-LABEL: func.func @choose_joint(
// CHOOSE-SAME:    %[[I:[^:]*]]: index, %[[X:[^:]*]]: tensor<?xf32>, %[[W:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<?xf32> {fad.cotangent = 0 : i64})
// CHOOSE:         %[[R:.*]] = scf.index_switch %[[I]] -> tensor<?xf32>
// CHOOSE:         %[[SIZE:.*]] = tensor.dim %[[W]]
// CHOOSE-NEXT:    %[[GRADIENTS:.*]]:2 = scf.index_switch %[[I]] {fad.adjoint_of = "scf.index_switch"} -> tensor<?xf32>, tensor<?xf32>
// CHOOSE-NEXT:    case 2 {
// CHOOSE:           %[[M:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] :
// CHOOSE:           fad.elementwise ins(%[[M]], %[[G]] :
// CHOOSE:         case -7 {
// CHOOSE:           %[[ZERO:.*]] = linalg.fill
// CHOOSE:           scf.yield %[[ZERO]], %{{.*}}
// CHOOSE:         default {
// CHOOSE:           fad.elementwise ins(%[[X]], %[[G]] :
// CHOOSE:         return %[[R]], %[[GRADIENTS]]#1, %[[GRADIENTS]]#0
func.func @choose(%i: index, %x: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.index_switch %i -> tensor<?xf32>
  case 2 {
    %m = arith.mulf %x, %w : tensor<?xf32>
    %t = math.exp %m : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  case -7 {
    %s = math.sin %x : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  default {
    %m = arith.mulf %w, %x : tensor<?xf32>
    scf.yield %m : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// What is in a region of one block belongs to the function.

// INLINED-LABEL: func.func @inlined_forward(
// INLINED-NOT:     scf.execute_region
// INLINED:         math.sin
// INLINED-LABEL: func.func @inlined_backward(
// INLINED:         math.cos
func.func @inlined(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = scf.execute_region -> tensor<3xf32> no_inline {
    %s = scf.execute_region -> tensor<3xf32> {
      %t = math.sin %x : tensor<3xf32>
      scf.yield %t : tensor<3xf32>
    }
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
