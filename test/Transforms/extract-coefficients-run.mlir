// REQUIRES: fad-python, ml_dtypes
// RUN: %fad_python %S/check_joint.py %s two pieces broadcasts rank0 --extremes
// RUN: %fad_python %S/check_joint.py %s narrow chosen --extremes --empty

// Joint functions, split under each policy, give the gradients that they give as a
// whole: also where numbers are not finite, and for tensors without elements.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#col = affine_map<(d0, d1) -> (d0, 0)>

// Two cotangents, each with a coefficient of its own.
func.func @two(%x: tensor<4x8xf32>, %g: tensor<4x8xf32> {fad.cotangent = 0 : i64}, %h: tensor<4x8xf32> {fad.cotangent = 1 : i64})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %s = math.sin %x : tensor<4x8xf32>
  %t = math.tanh %x : tensor<4x8xf32>
  %c = math.cos %x : tensor<4x8xf32>
  %tt = arith.mulf %t, %t : tensor<4x8xf32>
  %a = arith.mulf %g, %c : tensor<4x8xf32>
  %b = arith.mulf %h, %tt : tensor<4x8xf32>
  %d = arith.subf %h, %b : tensor<4x8xf32>
  %gx = arith.addf %a, %d : tensor<4x8xf32>
  return %s, %t, %gx : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Division, negation and a chain of conversions; the coefficient is rounded once.
func.func @narrow(%x: tensor<?xf16>, %y: tensor<?xf16>, %g: tensor<?xf16> {fad.cotangent = 0 : i64})
    -> (tensor<?xf16>, tensor<?xf16> {fad.gradient = 0 : i64}, tensor<?xf16> {fad.gradient = 1 : i64}) {
  %w = arith.extf %x : tensor<?xf16> to tensor<?xf32>
  %e = math.exp %w : tensor<?xf32>
  %v = arith.extf %y : tensor<?xf16> to tensor<?xf32>
  %ev = math.exp %v : tensor<?xf32>
  %q = arith.divf %e, %ev : tensor<?xf32>
  %r = arith.truncf %q : tensor<?xf32> to tensor<?xf16>
  %gw = arith.extf %g : tensor<?xf16> to tensor<?xf32>
  %1 = arith.divf %gw, %ev : tensor<?xf32>
  %2 = arith.mulf %1, %e : tensor<?xf32>
  %gx = arith.truncf %2 : tensor<?xf32> to tensor<?xf16>
  %3 = arith.negf %2 : tensor<?xf32>
  %gy = arith.truncf %3 : tensor<?xf32> to tensor<?xf16>
  return %r, %gx, %gy : tensor<?xf16>, tensor<?xf16>, tensor<?xf16>
}

// A zero that is chosen stays zero, also where what it hides is not finite.
func.func @chosen(%x: tensor<?x8xf32>, %m: tensor<?x8xi1>, %g: tensor<?x8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?x8xf32>, tensor<?x8xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %z = tensor.splat %zero[%n] : tensor<?x8xf32>
  %e = math.exp %x : tensor<?x8xf32>
  %y = arith.select %m, %e, %z : tensor<?x8xi1>, tensor<?x8xf32>
  %1 = arith.mulf %g, %e : tensor<?x8xf32>
  %2 = arith.select %m, %1, %z : tensor<?x8xi1>, tensor<?x8xf32>
  return %y, %2 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Of three pieces: hardswish as PyTorch differentiates it.
func.func @pieces(%x: tensor<16xf64>, %g: tensor<16xf64> {fad.cotangent = 0 : i64})
    -> (tensor<16xf64>, tensor<16xf64> {fad.gradient = 0 : i64}) {
  %y = fad.hardswish %x : tensor<16xf64>
  %m3 = arith.constant dense<-3.0> : tensor<16xf64>
  %p3 = arith.constant dense<3.0> : tensor<16xf64>
  %half = arith.constant dense<0.5> : tensor<16xf64>
  %zero = arith.constant dense<0.0> : tensor<16xf64>
  %low = arith.cmpf ole, %x, %m3 : tensor<16xf64>
  %mid = arith.cmpf olt, %x, %p3 : tensor<16xf64>
  %1 = arith.divf %x, %p3 : tensor<16xf64>
  %2 = arith.addf %1, %half : tensor<16xf64>
  %3 = arith.mulf %g, %2 : tensor<16xf64>
  %4 = arith.select %mid, %3, %g : tensor<16xi1>, tensor<16xf64>
  %5 = arith.select %low, %zero, %4 : tensor<16xi1>, tensor<16xf64>
  return %y, %5 : tensor<16xf64>, tensor<16xf64>
}

// Broadcasts: the bias is added in the same operation, and the cotangent is one
// number a row.
func.func @broadcasts(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %g: tensor<4x1xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4x1xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %e1 = tensor.empty() : tensor<4x1xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<4x8xf32>) outs(%f1 : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x1xf32>
  %gx = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %g : tensor<4x8xf32>, tensor<8xf32>, tensor<4x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = math.tanh %s : f32
    %tt = arith.mulf %t, %t : f32
    %u = arith.subf %one, %tt : f32
    %p = arith.mulf %d, %u : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %r, %gx : tensor<4x1xf32>, tensor<4x8xf32>
}

// Rank 0, bf16, and a fused multiply-add.
func.func @rank0(%x: tensor<bf16>, %g: tensor<bf16> {fad.cotangent = 0 : i64})
    -> (tensor<bf16>, tensor<bf16> {fad.gradient = 0 : i64}) {
  %y = math.exp %x : tensor<bf16>
  %s = math.sin %x : tensor<bf16>
  %1 = arith.mulf %g, %s : tensor<bf16>
  %2 = math.fma %1, %y, %g : tensor<bf16>
  return %y, %2 : tensor<bf16>, tensor<bf16>
}
