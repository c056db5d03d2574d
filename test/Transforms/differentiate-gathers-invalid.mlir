// RUN: fad-opt %s --fad-differentiate --split-input-file --verify-diagnostics

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
// The index is what has been added up so far.
func.func @running_index(%x: tensor<9xf32>, %y: tensor<4xf32>, %init: tensor<f32>, %start: tensor<index>) -> tensor<f32> {
  %r:2 = linalg.generic {indexing_maps = [#id, #all, #all], iterator_types = ["reduction"]}
      ins(%y : tensor<4xf32>) outs(%init, %start : tensor<f32>, tensor<index>) {
  ^bb0(%a: f32, %out: f32, %i: index):
    // expected-error @below {{'tensor.extract' op reads at an index that depends on other iterations, which has no reverse rule; compute the index first}}
    %p = tensor.extract %x[%i] : tensor<9xf32>
    %s = arith.addf %out, %p : f32
    %j = linalg.index 0 : index
    %k = arith.addi %i, %j : index
    linalg.yield %s, %k : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0 : tensor<f32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// Only some iterations read.
func.func @conditional(%x: tensor<9xf32>, %ids: tensor<4xindex>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: index, %out: f32):
    %c = arith.cmpi ult, %i, %c9 : index
    %p = scf.if %c -> f32 {
      // expected-error @below {{'tensor.extract' op reads 'tensor<9xf32>' on the path that is differentiated from inside 'linalg.generic', which has reverse rules for its operands only; make it an operand}}
      %q = tensor.extract %x[%i] : tensor<9xf32>
      scf.yield %q : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// Nothing says what lies outside.
func.func @past_the_end(%x: tensor<4xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    // expected-error @below {{'tensor.extract' op reads at 4 in dimension 0 of 'tensor<4xf32>', outside of it; make the loops shorter or pad it}}
    %p = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %p : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @before_the_start(%x: tensor<?xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %c2 = arith.constant 2 : index
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c2, %i : index
    // expected-error @below {{'tensor.extract' op reads at -2 in dimension 0 of 'tensor<?xf32>', outside of it; make the loops shorter or pad it}}
    %p = tensor.extract %x[%j] : tensor<?xf32>
    linalg.yield %p : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @constant(%x: tensor<4xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %c7 = arith.constant 7 : index
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
  ^bb0(%out: f32):
    // expected-error @below {{'tensor.extract' op reads at 7 in dimension 0 of 'tensor<4xf32>', outside of it; make the loops shorter or pad it}}
    %p = tensor.extract %x[%c7] : tensor<4xf32>
    linalg.yield %p : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
