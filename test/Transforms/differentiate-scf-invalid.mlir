// RUN: fad-opt %s --fad-differentiate --split-input-file --verify-diagnostics

// All of these are reported, not the first.
func.func @others(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'scf.forall' op has no reverse rule; write it as scf.for that carries the tensor, with tensor.insert_slice in place of tensor.parallel_insert_slice}}
  %forall = scf.forall (%k) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    %s = tensor.extract_slice %o[%k] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %t = math.sin %s : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%k] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  // expected-error @below {{'scf.parallel' op has no reverse rule; write it as scf.for that carries what it reduces}}
  %parallel = scf.parallel (%k) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
    %e = tensor.extract %forall[%k] : tensor<4xf32>
    scf.reduce(%e : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  %splat = tensor.splat %parallel : tensor<4xf32>
  // expected-error @below {{'affine.for' op has no reverse rule; write it with scf (--lower-affine does)}}
  %for = affine.for %k = 0 to 4 iter_args(%a = %splat) -> tensor<4xf32> {
    %s = math.sin %a : tensor<4xf32>
    affine.yield %s : tensor<4xf32>
  }
  // expected-error @below {{'scf.execute_region' op has no reverse rule; write its blocks with scf.if and scf.while, or, where it is one, let --fad-normalize inline it}}
  %region = scf.execute_region -> tensor<4xf32> {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %s = math.sin %for : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  ^bb2:
    scf.yield %for : tensor<4xf32>
  }
  return %region : tensor<4xf32>
}

// -----

// The iterations are counted, and would draw other numbers than when they run.
func.func private @draw() -> f32

func.func @effect_in_while(%x: tensor<2xf32>, %n: i32) -> tensor<2xf32> {
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%a = %x, %i = %n) : (tensor<2xf32>, i32) -> (tensor<2xf32>, i32) {
    %more = arith.cmpi sgt, %i, %one : i32
    scf.condition(%more) %a, %i : tensor<2xf32>, i32
  } do {
  ^bb0(%a: tensor<2xf32>, %i: i32):
    // expected-error @below {{'func.call' op has side effects, but the iterations of 'scf.while' are counted before they are run, for backward to know how many there are; move it out of 'scf.while', or write the loop as scf.for}}
    %s = func.call @draw() : () -> f32
    %f = tensor.splat %s : tensor<2xf32>
    %m = arith.mulf %a, %f : tensor<2xf32>
    %next = arith.subi %i, %one : i32
    scf.yield %m, %next : tensor<2xf32>, i32
  }
  return %r#0 : tensor<2xf32>
}

// -----

// The sizes that iterations begin with have to be known before they run.
func.func @while_grows(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.for' op carries 'tensor<?xf32>', whose sizes may change from one iteration to the next, which backward cannot keep in one tensor; make them static, or write each iteration's result into a tensor of the sizes it began with}}
  %r = scf.while (%a = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %size = tensor.dim %a, %c0 : tensor<?xf32>
    %more = arith.cmpi ult, %size, %n : index
    scf.condition(%more) %a : tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>):
    %b = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %s = math.sin %b : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Backward keeps what iterations begin with in one tensor.
func.func @grows(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op carries 'tensor<?xf32>', whose sizes may change from one iteration to the next, which backward cannot keep in one tensor; make them static, or write each iteration's result into a tensor of the sizes it began with}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %b = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %s = math.sin %b : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Nothing of what an iteration begins with is read, but how many zeros its
// cotangent has depends on it.
func.func @grows_once(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op carries 'tensor<?xf32>', whose sizes may change from one iteration to the next, which backward cannot keep in one tensor; make them static, or write each iteration's result into a tensor of the sizes it began with}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %s = math.sin %x : tensor<?xf32>
    %b = tensor.concat dim(0) %s, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Every operation in a region that has no rule is reported, and what comes
// before the loop.
func.func @regions(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{'tosa.reverse' op has no reverse rule}}
  %y = tosa.reverse %x {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %y) -> tensor<2xf32> {
    // expected-error @below {{'tosa.reverse' op has no reverse rule}}
    %b = tosa.reverse %a {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %s = scf.if %c -> tensor<2xf32> {
      // expected-error @below {{'tosa.reverse' op has no reverse rule}}
      %d = tosa.reverse %b {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
      scf.yield %d : tensor<2xf32>
    } else {
      scf.yield %b : tensor<2xf32>
    }
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// Backward would draw again.
func.func private @draw() -> f32

func.func @effect(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %r = scf.if %c -> tensor<2xf32> {
    // expected-error @below {{'func.call' op has side effects, but what it computes is needed again in backward; move it out of 'scf.if'}}
    %s = func.call @draw() : () -> f32
    %f = tensor.splat %s : tensor<2xf32>
    %m = arith.mulf %x, %f : tensor<2xf32>
    scf.yield %m : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @effect_on_path(%x: tensor<2xf32>, %c: i1, %m: memref<f32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> tensor<2xf32> {
    %e = tensor.extract %x[%c0] : tensor<2xf32>
    // expected-error @below {{'memref.store' op has side effects on the path that is differentiated; remove it or move it out of the function}}
    memref.store %e, %m[] : memref<f32>
    scf.yield %x : tensor<2xf32>
  } else {
    %s = math.sin %x : tensor<2xf32>
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @vector(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<2xf32>
  // expected-error @below {{'scf.for' op carries 'vector<2xf32>' from one iteration to the next, which backward cannot keep; carry ranked tensors and scalars}}
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %v = %zero) -> (tensor<2xf32>, vector<2xf32>) {
    %next = arith.addf %v, %v : vector<2xf32>
    %f = vector.extract %v[0] : f32 from vector<2xf32>
    %splat = tensor.splat %f : tensor<2xf32>
    %m = arith.mulf %a, %splat : tensor<2xf32>
    scf.yield %m, %next : tensor<2xf32>, vector<2xf32>
  }
  return %r#0 : tensor<2xf32>
}
