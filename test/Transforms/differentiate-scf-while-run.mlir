// Gradients through loops of unknown length and through switches against
// differences, under every policy.

// RUN: fad-runner %s --check-gradients --entry=all --policy=bp --size=3 --arg=3
// RUN: fad-runner %s --check-gradients --entry=nested --policy=bp --size=0 --arg=0
// RUN: fad-runner %s --check-gradients --entry=nested --policy=recompute --size=2 --arg=4
// RUN: fad-runner %s --check-gradients --entry=root --policy=recompute --size=0
// RUN: fad-runner %s --check-gradients --entry=nested --policy=fad --size=2 --arg=5
// RUN: fad-runner %s --check-gradients --entry=choose --policy=fad --size=2 --arg=5
// RUN: fad-runner %s --check-gradients --entry=all --policy=auto --size=1 --arg=4

// The counter behind a loop is the first one for which the condition fails, or the
// one that the loop began with.

// RUN: fad-runner %s --entry=counter --arg=0 --arg=2 --arg=1 --policy=auto | FileCheck %s --check-prefix=COUNTER
// RUN: fad-runner %s --entry=counter --arg=10 --arg=2 --arg=1 --policy=bp | FileCheck %s --check-prefix=NONE
// COUNTER: out1: tensor<index> = 4
// NONE:    out1: tensor<index> = 10
func.func @counter(%from: index, %step: index, %x: tensor<2xf64>) -> (tensor<2xf64>, index) {
  %three = arith.constant 3 : index
  %r:2 = scf.while (%a = %x, %n = %from) : (tensor<2xf64>, index) -> (tensor<2xf64>, index) {
    %less = arith.cmpi slt, %n, %three : index
    scf.condition(%less) %a, %n : tensor<2xf64>, index
  } do {
  ^bb0(%b: tensor<2xf64>, %m: index):
    %y = math.sin %b : tensor<2xf64>
    %next = arith.addi %m, %step : index
    scf.yield %y, %next : tensor<2xf64>, index
  }
  return %r#0, %r#1 : tensor<2xf64>, index
}

func.func @all(%n: index, %x: tensor<?xf64>, %w: tensor<?xf64>, %y: tensor<3xf32>)
    -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf32>, tensor<3xf32>, tensor<?xf64>, tensor<?xf64>) {
  %root = call @root(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %nested:2 = call @nested(%n, %x, %w) : (index, tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %counters:2 = call @counters(%n, %y) : (index, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %choose = call @choose(%n, %x, %w) : (index, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %regions = call @regions(%n, %x) : (index, tensor<?xf64>) -> tensor<?xf64>
  return %root, %nested#0, %nested#1, %counters#0, %counters#1, %choose, %regions
    : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf32>, tensor<3xf32>, tensor<?xf64>, tensor<?xf64>
}

// Newton's iteration for the square root of b = 2 + x^2, until it is good
// enough; the loop hands on what it has computed before its condition.
func.func @root(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %two = arith.constant 2.0 : f64
  %small = arith.constant 1.0e-6 : f64
  %scalar = arith.constant dense<0.0> : tensor<f64>
  %d = tensor.dim %x, %c0 : tensor<?xf64>
  %empty = tensor.empty(%d) : tensor<?xf64>
  %b = linalg.map ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>)
    (%e: f64, %o: f64) {
      %m = arith.mulf %e, %e : f64
      %s = arith.addf %m, %two : f64
      linalg.yield %s : f64
    }
  %r:2 = scf.while (%y = %b) : (tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
    %next = linalg.map ins(%y, %b : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>)
      (%e: f64, %f: f64, %o: f64) {
        %q = arith.divf %f, %e : f64
        %s = arith.addf %q, %e : f64
        %h = arith.mulf %s, %half : f64
        linalg.yield %h : f64
      }
    %change = arith.subf %next, %y : tensor<?xf64>
    %squares = arith.mulf %change, %change : tensor<?xf64>
    %sum = linalg.reduce { arith.addf } ins(%squares : tensor<?xf64>) outs(%scalar : tensor<f64>) dimensions = [0]
    %norm = tensor.extract %sum[] : tensor<f64>
    %more = arith.cmpf ogt, %norm, %small : f64
    scf.condition(%more) %y, %next : tensor<?xf64>, tensor<?xf64>
  } do {
  ^bb0(%y: tensor<?xf64>, %next: tensor<?xf64>):
    scf.yield %next : tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

// A loop in a loop, both before and after the condition, and one in a branch;
// loops that do not run.
func.func @nested(%count: index, %x: tensor<?xf64>, %w: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %n = arith.index_cast %count : index to i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r:3 = scf.while (%i = %n, %a = %x) : (i32, tensor<?xf64>) -> (i32, tensor<?xf64>, tensor<?xf64>) {
    %c = arith.cmpi sgt, %i, %zero : i32
    %odd = arith.remsi %i, %two : i32
    %inner:2 = scf.while (%j = %odd, %b = %a) : (i32, tensor<?xf64>) -> (i32, tensor<?xf64>) {
      %more = arith.cmpi sgt, %j, %zero : i32
      scf.condition(%more) %j, %b : i32, tensor<?xf64>
    } do {
    ^bb0(%j: i32, %b: tensor<?xf64>):
      %p = arith.mulf %b, %w : tensor<?xf64>
      %s = math.sin %p : tensor<?xf64>
      %next = arith.subi %j, %one : i32
      scf.yield %next, %s : i32, tensor<?xf64>
    }
    scf.condition(%c) %i, %a, %inner#1 : i32, tensor<?xf64>, tensor<?xf64>
  } do {
  ^bb0(%i: i32, %a: tensor<?xf64>, %s: tensor<?xf64>):
    %even = arith.cmpi eq, %i, %two : i32
    %t = scf.if %even -> tensor<?xf64> {
      %inner:2 = scf.while (%j = %i, %b = %s) : (i32, tensor<?xf64>) -> (i32, tensor<?xf64>) {
        %more = arith.cmpi sgt, %j, %zero : i32
        scf.condition(%more) %j, %b : i32, tensor<?xf64>
      } do {
      ^bb0(%j: i32, %b: tensor<?xf64>):
        %p = arith.mulf %b, %a : tensor<?xf64>
        %next = arith.subi %j, %one : i32
        scf.yield %next, %p : i32, tensor<?xf64>
      }
      scf.yield %inner#1 : tensor<?xf64>
    } else {
      %e = math.cos %s : tensor<?xf64>
      scf.yield %e : tensor<?xf64>
    }
    %next = arith.subi %i, %one : i32
    scf.yield %next, %t : i32, tensor<?xf64>
  }
  return %r#1, %r#2 : tensor<?xf64>, tensor<?xf64>
}

// As frameworks write them: what is counted and compared are tensors. One result
// comes from outside of the loop, and one value is carried that nothing reads.
func.func @counters(%count: index, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %n = arith.index_cast %count : index to i64
  %w = math.sin %x : tensor<3xf32>
  %one = arith.constant dense<1> : tensor<i64>
  %start = arith.constant dense<0> : tensor<i64>
  %r:4 = scf.while (%i = %start, %a = %x, %unused = %w) : (tensor<i64>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %k = tensor.extract %i[] : tensor<i64>
    %c = arith.cmpi ult, %k, %n : i64
    scf.condition(%c) %i, %a, %w, %unused : tensor<i64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>, %v: tensor<3xf32>, %unused: tensor<3xf32>):
    %next = arith.addi %i, %one : tensor<i64>
    %k = tensor.extract %i[] : tensor<i64>
    %f = arith.sitofp %k : i64 to f32
    %splat = tensor.splat %f : tensor<3xf32>
    %m = arith.addf %a, %splat : tensor<3xf32>
    %p = arith.mulf %m, %v : tensor<3xf32>
    %t = math.tanh %p : tensor<3xf32>
    %e = math.exp %unused : tensor<3xf32>
    scf.yield %next, %t, %e : tensor<i64>, tensor<3xf32>, tensor<3xf32>
  }
  return %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>
}

// Another case in each iteration: what a loop carries keeps its size in all.
func.func @choose(%n: index, %x: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %b = scf.index_switch %i -> tensor<?xf64>
    case 1 {
      %m = arith.mulf %a, %w : tensor<?xf64>
      scf.yield %m : tensor<?xf64>
    }
    case 3 {
      scf.yield %a : tensor<?xf64>
    }
    case 2 {
      %s = math.sin %a : tensor<?xf64>
      scf.yield %s : tensor<?xf64>
    }
    default {
      %m = arith.addf %a, %x : tensor<?xf64>
      %t = math.tanh %m : tensor<?xf64>
      scf.yield %t : tensor<?xf64>
    }
    scf.yield %b : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

func.func @regions(%n: index, %x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %b = scf.execute_region -> tensor<?xf64> no_inline {
      %s = math.sin %a : tensor<?xf64>
      scf.yield %s : tensor<?xf64>
    }
    scf.yield %b : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
