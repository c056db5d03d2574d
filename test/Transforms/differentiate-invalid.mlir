// RUN: fad-opt %s --fad-differentiate --split-input-file --verify-diagnostics

func.func @no_reverse_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tosa.reverse' op has no reverse rule; rewrite it in terms of operations that have one, or implement fad::AdjointOpInterface for it}}
  %y = tosa.reverse %x {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Every such operation is reported at once.
func.func @two_without_rule(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{has no reverse rule}}
  %y = tosa.reverse %x {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has no reverse rule}}
  %z = tosa.reverse %x {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @no_scalar_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{'test_rules.no_rule' op has no derivative rule; rewrite it in terms of operations that have one, or implement fad::DerivativeOpInterface for it}}
    %b = test_rules.no_rule %a : f32
    fad.yield %b : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func private @print(tensor<4xf32>)

func.func @side_effect(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op calls @print on the path that is differentiated; it has no body: define it in this module, or call it outside of the function}}
  func.call @print(%x) : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @quotient(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'linalg.reduce' op combines elements in another way than by adding or multiplying them or by taking the greatest or least, which has no reverse rule; write the reduction as one of these}}
  %r = linalg.reduce ins(%x : tensor<4xf32>) outs(%init : tensor<f32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %q = arith.divf %out, %in : f32
      linalg.yield %q : f32
    }
  return %r : tensor<f32>
}

// -----

// expected-error @below {{argument 1 is the unranked tensor 'tensor<*xf32>'; give it a rank, with '?' for sizes that are not known}}
func.func @unranked(%x: tensor<4xf32>, %y: tensor<*xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{cannot differentiate @integers: no result is f16, bf16, f32 or f64, or a ranked tensor of them}}
func.func @integers(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  return %i : tensor<4xi32>
}

// -----

// expected-error @below {{@nothing has no argument that is a ranked tensor of f16, bf16, f32 or f64, so there is nothing to differentiate with respect to; list scalars in 'wrt'}}
func.func @nothing(%i: tensor<4xi32>) -> tensor<4xi32> {
  return %i : tensor<4xi32>
}

// -----

// expected-error @below {{cannot differentiate with respect to argument 0 of type 'tensor<4xi32>'; only f16, bf16, f32 and f64, and ranked tensors of them, have gradients}}
func.func @integer_argument(%i: tensor<4xi32>) -> tensor<4xi32>
    attributes {fad.request = #fad.request<wrt = [0]>} {
  return %i : tensor<4xi32>
}

// -----

// expected-error @below {{argument 0 is listed twice in 'wrt'}}
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<wrt = [0, 0]>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 1 is a cotangent already; differentiating a joint or backward function again is not supported}}
func.func @again(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64}) -> tensor<4xf32> {
  return %g : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is marked with fad.residual, as functions are that were differentiated before; remove the mark to treat it as an ordinary function}}
func.func @residual_argument(%x: tensor<4xf32> {fad.residual}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 1 is marked with fad.residual, as functions are that were differentiated before; remove the mark to treat it as an ordinary function}}
func.func @residual_result(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {fad.residual}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 0 is marked with fad.gradient, as functions are}}
func.func @gradient(%x: tensor<4xf32>) -> (tensor<4xf32> {fad.gradient = 0}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is marked with fad.gradient, as functions are}}
func.func @gradient_argument(%x: tensor<4xf32> {fad.gradient = 0}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 is marked with fad.cotangent, as functions are}}
func.func @cotangent_result(%x: tensor<4xf32>) -> (tensor<4xf32> {fad.cotangent = 0}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{cannot create @f_joint: the module has a symbol of that name; rename it}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @f_joint()

// -----

// expected-error @below {{cannot differentiate @callee in place: other operations refer to it; differentiate a copy, or inline the calls first (--inline)}}
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{cannot differentiate @blocks: it has several blocks; express its control flow with scf or inline it first}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{the module has 2 public functions; choose one with 'entry': @a, @b}}
module {
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{the module has no public function with a body to differentiate; make one public or name one with 'entry'}}
module {
}

// -----

func.func @bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %mask = arith.constant 2147483647 : i32
    // expected-error @below {{'arith.bitcast' op reinterprets the bits of a differentiated value, which has no derivative; compute the value with floating-point operations}}
    %b = arith.bitcast %a : f32 to i32
    %c = arith.andi %b, %mask : i32
    %d = arith.bitcast %c : i32 to f32
    fad.yield %d : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @eight_bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{'arith.truncf' op computes 'f8E4M3FN' from a differentiated value, but only f16, bf16, f32 and f64 have derivatives}}
    %b = arith.truncf %a : f32 to f8E4M3FN
    %c = arith.extf %b : f8E4M3FN to f32
    fad.yield %c : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @complex(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{'complex.create' op computes 'complex<f32>' from a differentiated value, but only f16, bf16, f32 and f64 have derivatives}}
    %b = complex.create %a, %a : complex<f32>
    %c = complex.abs %b : complex<f32>
    fad.yield %c : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @eight_bit_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  // expected-error @below {{'linalg.generic' op reads 'tensor<4xf8E4M3FN>' on the path that is differentiated, but only f16, bf16, f32 and f64, and ranked tensors of them, have gradients}}
  %c = arith.extf %b : tensor<4xf8E4M3FN> to tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// The bits of a differentiated value, taken and given back by different
// operations.
func.func @bits_between_operations(%x: tensor<4xf32>) -> tensor<4xf32> {
  %bits = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  %sum = arith.addi %bits, %bits : tensor<4xi32>
  // expected-error @below {{'tensor.bitcast' op reads 'tensor<4xi32>' on the path that is differentiated, but only f16, bf16, f32 and f64, and ranked tensors of them, have gradients}}
  %y = tensor.bitcast %sum : tensor<4xi32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{result 1 is 'tensor<4xf8E4M3FN>' and depends on what is differentiated, but only f16, bf16, f32 and f64, and ranked tensors of them, have cotangents; convert it to one, remove it, or list the results to differentiate in 'results'}}
func.func @eight_bit_result(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf8E4M3FN>) {
  %b = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  return %x, %b : tensor<4xf32>, tensor<4xf8E4M3FN>
}

// -----

// expected-error @below {{result 1 is 'tensor<*xf32>' and depends on what is differentiated}}
func.func @unranked_result(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>) {
  %y = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  return %x, %y : tensor<4xf32>, tensor<*xf32>
}

// -----

func.func @unreachable(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ub.unreachable' op ends the function that is differentiated; only func.return can}}
  ub.unreachable
}

// -----

// The last iteration wins.
func.func @overwritten(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  // expected-error @below {{'linalg.generic' op writes result 0 through affine_map<(d0, d1) -> (d0)> without reading it, which has no reverse rule unless each element is written once; add to the elements instead}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A column is written, the others keep what the init holds.
func.func @part(%x: tensor<3xf32>, %init: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // expected-error @below {{'linalg.generic' op writes result 0 through affine_map<(d0) -> (d0, 0)> without reading it}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, 0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%init : tensor<3x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// The terms of a maximum are what the maximum is so far.
func.func @running_maximum(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'linalg.reduce' op combines elements in another way than by adding or multiplying them or by taking the greatest or least}}
  %r = linalg.reduce ins(%x : tensor<4xf32>) outs(%init : tensor<f32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %p = arith.mulf %in, %out : f32
      %m = arith.maximumf %p, %out : f32
      linalg.yield %m : f32
    }
  return %r : tensor<f32>
}

// -----

// The second sum reads what the first one is so far.
func.func @running(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  // expected-error @below {{'linalg.generic' op combines elements in another way than by adding or multiplying them or by taking the greatest or least}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%zero, %zero : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %first: f32, %second: f32):
    %s = arith.addf %a, %first : f32
    %p = arith.mulf %a, %first : f32
    %t = arith.addf %p, %second : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#1 : tensor<3xf32>
}

// -----

// As long as the sum is negative, elements count.
func.func @running_condition(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{'linalg.generic' op combines elements in another way than by adding or multiplying them or by taking the greatest or least}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ole, %o, %zero : f32
    %t = arith.select %c, %a, %zero : f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @slice_in_body(%x: tensor<5xf32>, %i: tensor<3xindex>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<3xindex>) outs(%e : tensor<3xf32>) {
  ^bb0(%at: index, %o: f32):
    // expected-error @below {{'tensor.extract_slice' op reads 'tensor<5xf32>' on the path that is differentiated from inside 'linalg.generic', which has reverse rules for its operands only; make it an operand}}
    %part = tensor.extract_slice %x[%at] [1] [1] : tensor<5xf32> to tensor<f32>
    %v = tensor.extract %part[] : tensor<f32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @control_flow_in_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %a, %zero : f32
    // expected-error @below {{'scf.if' op has no derivative rule}}
    %b = scf.if %c -> f32 {
      %s = arith.mulf %a, %a : f32
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    fad.yield %b : f32
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{the module has 2 functions with fad.request; choose one with 'entry': @a, @b}}
module {
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fad.request = #fad.request<>} {
    return %x : tensor<4xf32>
  }
  func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fad.request = #fad.request<>} {
    return %x : tensor<4xf32>
  }
  func.func @c(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{cannot differentiate result 1 of type 'tensor<4xi32>'; only f16, bf16, f32 and f64, and ranked tensors of them, have cotangents}}
func.func @integer_result(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    attributes {fad.request = #fad.request<results = [1]>} {
  return %x, %i : tensor<4xf32>, tensor<4xi32>
}

// -----

// Everything that cannot be differentiated is reported in one run: what comes
// before the first such operation too, with effects and results.
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>

// expected-error @below {{result 1 is 'vector<4xf32>' and depends on what is differentiated}}
func.func @everything(%x: tensor<4xf32>, %m: memref<4xf32>) -> (tensor<4xf32>, vector<4xf32>) {
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  // expected-error @below {{'tosa.reverse' op has no reverse rule}}
  %a = tosa.reverse %x {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{'func.call' op calls @elsewhere on the path that is differentiated; it has no body: define it in this module}}
  %b = func.call @elsewhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = math.exp %b : tensor<4xf32>
  %element = tensor.extract %c[%zero] : tensor<4xf32>
  // expected-error @below {{'memref.store' op has side effects on the path that is differentiated; remove it or move it out of the function}}
  memref.store %element, %m[%zero] : memref<4xf32>
  // expected-error @below {{'tosa.reverse' op has no reverse rule}}
  %d = tosa.reverse %c {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %v = vector.transfer_read %d[%zero], %pad : tensor<4xf32>, vector<4xf32>
  return %d, %v : tensor<4xf32>, vector<4xf32>
}

// -----

// A call that is still there after inlining.
func.func @factorial(%n: index, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<>} {
  // expected-error @below {{'func.call' op calls @recursion on the path that is differentiated; inline the call (fad-nest and --inline do, unless the function calls itself: write a recursion as scf.for)}}
  %y = func.call @recursion(%n, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @recursion(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @recursion(%n, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Where a size is 0, upstream compares it with no other.
func.func @empty(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %b: tensor<0x2xf32>) -> tensor<0x2xf32> {
  // expected-error @below {{'linalg.matmul' op has 4 and 0 iterations of loop #0 by its operands; make these sizes equal}}
  %y = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x2xf32>) outs(%b : tensor<0x2xf32>) -> tensor<0x2xf32>
  return %y : tensor<0x2xf32>
}
