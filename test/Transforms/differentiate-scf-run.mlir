// Gradients through control flow against differences: each function under every
// policy, and so are tensors without elements and loops without iterations; under
// recompute, in check-fad-nightly, and three of them here. Other sizes and trip counts are
// spread over the policies.

// DEFINE: %{policy} =
// DEFINE: %{run} = fad-runner %s --policy=%{policy} --check-gradients
// DEFINE: %{all} = \
// DEFINE:   %{run} --entry=narrow --arg=5 && %{run} --entry=mixed && \
// DEFINE:   %{run} --entry=rows --size=2 && %{run} --entry=contractions && \
// DEFINE:   %{run} --entry=scalars --wrt=0,1 && %{run} --entry=handed_on && \
// DEFINE:   %{run} --entry=half --arg=3 && %{run} --entry=told --size=1 --arg=3 && %{run} --entry=nested_dynamic --size=2 --arg=4 && \
// DEFINE:   %{run} --entry=branch --size=0 --arg=1 && %{run} --entry=anew --size=2 --arg=0 && \
// DEFINE:   %{run} --entry=dynamic --size=3 --arg=5 --arg=5 --arg=1 && \
// DEFINE:   %{run} --entry=dynamic --size=0 --arg=1 --arg=9 --arg=3 && \
// DEFINE:   %{run} --entry=nested --arg=1 --arg=0

// REDEFINE: %{policy} = bp
// RUN: %{all}
// RUN: %{run} --entry=branch --size=3 --arg=1
// RUN: %{run} --entry=captured --arg=0
// RUN: %{run} --entry=dynamic --size=3 --arg=1 --arg=9 --arg=3
// RUN: %{run} --entry=nested --arg=1 --arg=4
// REDEFINE: %{policy} = recompute
// RUN: %if nightly %{ %{all} %}
// RUN: %{run} --entry=captured --arg=1
// RUN: %{run} --entry=nested --arg=0 --arg=0
// RUN: %{run} --entry=anew --size=2 --arg=3
// REDEFINE: %{policy} = fad
// RUN: %{all}
// RUN: %{run} --entry=branch --size=3 --arg=0
// RUN: %{run} --entry=captured --arg=0
// RUN: %{run} --entry=dynamic --size=3 --arg=1 --arg=10 --arg=3
// RUN: %{run} --entry=dynamic --size=3 --arg=5 --arg=1 --arg=1
// RUN: %{run} --entry=nested --arg=1 --arg=4
// RUN: %{run} --entry=anew --size=2 --arg=3

func.func @branch(%c: i1, %x: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
  %e = math.exp %x : tensor<?xf64>
  %r = scf.if %c -> tensor<?xf64> {
    %m = arith.mulf %e, %w : tensor<?xf64>
    %t = math.tanh %m : tensor<?xf64>
    scf.yield %t : tensor<?xf64>
  } else {
    %s = math.sin %x : tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// Two results, one of them from outside; a value that both branches read; an
// integer beside them.
func.func @captured(%c: i1, %x: tensor<3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %one = arith.constant 1 : i32
  %r:3 = scf.if %c -> (tensor<3xf32>, i32, tensor<3xf32>) {
    %m = arith.mulf %x, %x : tensor<3xf32>
    scf.yield %m, %one, %x : tensor<3xf32>, i32, tensor<3xf32>
  } else {
    %two = arith.addi %one, %one : i32
    %m = arith.mulf %x, %w : tensor<3xf32>
    scf.yield %w, %two, %m : tensor<3xf32>, i32, tensor<3xf32>
  }
  %f = arith.sitofp %r#1 : i32 to f32
  %splat = tensor.splat %f : tensor<3xf32>
  %y = arith.mulf %r#0, %splat : tensor<3xf32>
  return %y, %r#2 : tensor<3xf32>, tensor<3xf32>
}

// Rounds up, and no iteration at all.
func.func @dynamic(%low: index, %high: index, %step: index, %x: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
  %r = scf.for %i = %low to %high step %step iter_args(%a = %x) -> tensor<?xf64> {
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %splat = linalg.fill ins(%f : f64) outs(%a : tensor<?xf64>) -> tensor<?xf64>
    %m = arith.mulf %a, %w : tensor<?xf64>
    %s = math.sin %m : tensor<?xf64>
    %y = arith.mulf %s, %splat : tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// Bounds of a narrow type, that do not start at zero.
func.func @narrow(%n: i32, %x: tensor<2xf64>) -> tensor<2xf64> {
  %low = arith.constant -2 : i32
  %step = arith.constant 2 : i32
  %r = scf.for %i = %low to %n step %step iter_args(%a = %x) -> tensor<2xf64> : i32 {
    %f = arith.sitofp %i : i32 to f64
    %splat = tensor.splat %f : tensor<2xf64>
    %m = arith.mulf %a, %splat : tensor<2xf64>
    %s = math.cos %m : tensor<2xf64>
    scf.yield %s : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}

// Carried values of several types; one that no result depends on, one that is
// only handed on, one that depends on another of the last iteration.
func.func @mixed(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %r:6 = scf.for %i = %c0 to %c4 step %c1
      iter_args(%a = %x, %count = %one, %b = %w, %unused = %x, %flag = %true, %same = %w)
      -> (tensor<3xf64>, i32, tensor<3xf64>, tensor<3xf64>, i1, tensor<3xf64>) {
    %next = arith.muli %count, %count : i32
    %more = arith.addi %next, %one : i32
    %f = arith.sitofp %count : i32 to f64
    %g = arith.select %flag, %f, %f : f64
    %splat = tensor.splat %g : tensor<3xf64>
    %m = arith.mulf %a, %splat : tensor<3xf64>
    %s = math.sin %m : tensor<3xf64>
    %p = arith.mulf %s, %same : tensor<3xf64>
    %u = math.exp %unused : tensor<3xf64>
    %not = arith.xori %flag, %true : i1
    scf.yield %b, %more, %p, %u, %not, %same : tensor<3xf64>, i32, tensor<3xf64>, tensor<3xf64>, i1, tensor<3xf64>
  }
  return %r#0, %r#2 : tensor<3xf64>, tensor<3xf64>
}

// A branch in a loop in a branch, and a loop in a loop whose inner trip count
// is the outer iteration.
func.func @nested(%c: i1, %n: index, %x: tensor<2xf64>, %w: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = math.exp %w : tensor<2xf64>
  %r = scf.if %c -> tensor<2xf64> {
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<2xf64> {
      %even = arith.remui %i, %c2 : index
      %isEven = arith.cmpi eq, %even, %c0 : index
      %t = scf.if %isEven -> tensor<2xf64> {
        %m = arith.mulf %a, %y : tensor<2xf64>
        scf.yield %m : tensor<2xf64>
      } else {
        %inner = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> tensor<2xf64> {
          %p = arith.mulf %b, %a : tensor<2xf64>
          %q = math.sin %p : tensor<2xf64>
          scf.yield %q : tensor<2xf64>
        }
        scf.yield %inner : tensor<2xf64>
      }
      scf.yield %t : tensor<2xf64>
    }
    scf.yield %s : tensor<2xf64>
  } else {
    scf.yield %x : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}

// Rows that the iterations read and write.
func.func @rows(%x: tensor<5x?xf64>, %start: tensor<?xf64>) -> (tensor<5x?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %size = tensor.dim %start, %c0 : tensor<?xf64>
  %empty = tensor.empty(%size) : tensor<5x?xf64>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %start, %all = %empty) -> (tensor<?xf64>, tensor<5x?xf64>) {
    %row = tensor.extract_slice %x[%i, 0] [1, %size] [1, 1] : tensor<5x?xf64> to tensor<?xf64>
    %m = arith.mulf %a, %row : tensor<?xf64>
    %t = math.sin %m : tensor<?xf64>
    %out = tensor.insert_slice %t into %all[%i, 0] [1, %size] [1, 1] : tensor<?xf64> into tensor<5x?xf64>
    scf.yield %t, %out : tensor<?xf64>, tensor<5x?xf64>
  }
  return %r#1, %r#0 : tensor<5x?xf64>, tensor<?xf64>
}

// A recurrent network.
func.func @contractions(%x: tensor<4x3xf32>, %w: tensor<2x2xf32>, %u: tensor<3x2xf32>) -> tensor<1x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %f) -> tensor<1x2xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
    %a = linalg.matmul ins(%row, %u : tensor<1x3xf32>, tensor<3x2xf32>) outs(%f : tensor<1x2xf32>) -> tensor<1x2xf32>
    %b = linalg.matmul ins(%h, %w : tensor<1x2xf32>, tensor<2x2xf32>) outs(%a : tensor<1x2xf32>) -> tensor<1x2xf32>
    %t = math.tanh %b : tensor<1x2xf32>
    scf.yield %t : tensor<1x2xf32>
  }
  return %r : tensor<1x2xf32>
}

// Scalars through both.
func.func @scalars(%x: f64, %w: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %positive = arith.cmpf ogt, %x, %zero : f64
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> f64 {
    %p = scf.if %positive -> f64 {
      %m = arith.mulf %a, %w : f64
      scf.yield %m : f64
    } else {
      %m = arith.subf %a, %w : f64
      scf.yield %m : f64
    }
    %s = math.sin %p : f64
    scf.yield %s : f64
  }
  return %r : f64
}

// What is carried is handed on, and what is yielded comes from outside.
func.func @handed_on(%x: tensor<2xf64>, %w: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<2xf64>, tensor<2xf64>) {
    scf.yield %b, %w : tensor<2xf64>, tensor<2xf64>
  }
  return %r#0, %r#1 : tensor<2xf64>, tensor<2xf64>
}

func.func @half(%n: index, %x: tensor<3xf16>, %w: tensor<3xbf16>) -> (tensor<3xf16>, tensor<3xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %w) -> (tensor<3xf16>, tensor<3xbf16>) {
    %s = math.sin %a : tensor<3xf16>
    %p = arith.mulf %b, %b : tensor<3xbf16>
    scf.yield %s, %p : tensor<3xf16>, tensor<3xbf16>
  }
  return %r#0, %r#1 : tensor<3xf16>, tensor<3xbf16>
}

// Loops and branches in a loop that carry a tensor of dynamic size.
func.func @nested_dynamic(%n: index, %x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %even = arith.cmpi eq, %i, %c1 : index
    %b = scf.if %even -> tensor<?xf64> {
      %m = arith.mulf %a, %x : tensor<?xf64>
      scf.yield %m : tensor<?xf64>
    } else {
      %s = scf.for %j = %c0 to %i step %c1 iter_args(%d = %a) -> tensor<?xf64> {
        %t = math.sin %d : tensor<?xf64>
        scf.yield %t : tensor<?xf64>
      }
      scf.yield %s : tensor<?xf64>
    }
    scf.yield %b : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// What an iteration ends with does not depend on what it began with.
func.func @anew(%n: index, %x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %s = math.sin %x : tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// The cast in the loop tells the size, without which an iteration might end with another
// one than it began with.
func.func @told(%n: index, %x: tensor<?xf64>, %w: tensor<1xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %p = arith.mulf %a, %x : tensor<?xf64>
    %b = tensor.cast %p : tensor<?xf64> to tensor<1xf64>
    %m = arith.mulf %b, %w : tensor<1xf64>
    %s = math.sin %m : tensor<1xf64>
    %y = tensor.cast %s : tensor<1xf64> to tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
