// Gradients of reads at computed indices against differences in f64: indices
// from files, that meet and that do not.

// DEFINE: %{make} = %python %S/../fad-runner/Inputs/make_arrays.py %t
// DEFINE: %{entry} =
// DEFINE: %{check} = fad-runner %s --entry=%{entry} --check-gradients
#0 = affine_map<(d0) -> (d0)>
#01 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#012 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#ids = affine_map<(d0, d1, d2) -> (d0, d1)>

// An embedding, with assertions, and every policy.
// REDEFINE: %{entry} = embedding
// RUN: %{make} 'ids=rng.integers(0, 7, (4, 6))'
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy --policy=bp
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy --policy=recompute
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy --policy=fad
func.func @embedding(%table: tensor<7x5xf32>, %ids: tensor<4x6xi64>) -> tensor<4x6x5xf32> {
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4x6x5xf32>
  %r = linalg.generic {indexing_maps = [#ids, #012], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<4x6xi64>) outs(%e : tensor<4x6x5xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 2 : index
    %c = arith.cmpi slt, %i, %c7 : index
    cf.assert %c, "index must be smaller than dim size"
    %d = arith.cmpi sge, %id, %zero : i64
    cf.assert %d, "index must be larger or equal to 0"
    %x = tensor.extract %table[%i, %j] : tensor<7x5xf32>
    linalg.yield %x : f32
  } -> tensor<4x6x5xf32>
  return %r : tensor<4x6x5xf32>
}

// The same with sizes that are not known, without rows to read or none read.
// REDEFINE: %{entry} = dynamic
// RUN: %{make} 'ids=rng.integers(0, 6, 9).astype("i4")' 'none=np.zeros(0, "i4")'
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy --size=6
// RUN: %{check} --arg=random:1 --arg=%t/none.npy --size=6
// RUN: %{check} --arg=random:1 --arg=%t/none.npy --size=0
func.func @dynamic(%table: tensor<?x?xbf16>, %ids: tensor<?xi32>) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %m = tensor.dim %table, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%n, %m) : tensor<?x?xbf16>
  %r = linalg.generic {indexing_maps = [#row, #01], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%id: i32, %out: bf16):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<?x?xbf16>
    linalg.yield %x : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// More updates of one place than bf16 can count.
// REDEFINE: %{entry} = many
// RUN: %{make} 'ids=np.zeros(600, "i4")'
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy
func.func @many(%table: tensor<2xbf16>, %ids: tensor<600xi32>) -> tensor<600xbf16> {
  %e = tensor.empty() : tensor<600xbf16>
  %r = linalg.generic {indexing_maps = [#0, #0], iterator_types = ["parallel"]}
      ins(%ids : tensor<600xi32>) outs(%e : tensor<600xbf16>) {
  ^bb0(%id: i32, %out: bf16):
    %i = arith.index_cast %id : i32 to index
    %x = tensor.extract %table[%i] : tensor<2xbf16>
    linalg.yield %x : bf16
  } -> tensor<600xbf16>
  return %r : tensor<600xbf16>
}

// The label's column of each row, scaled, of a table with more rows.
// REDEFINE: %{entry} = label
// RUN: %{make} 'ids=rng.integers(0, 10, 4)'
// RUN: %{check} --arg=random:1 --arg=random:2 --arg=%t/ids.npy
func.func @label(%x: tensor<6x10xf64>, %w: tensor<4xf64>, %labels: tensor<4xi64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.generic {indexing_maps = [#0, #0, #0], iterator_types = ["parallel"]}
      ins(%w, %labels : tensor<4xf64>, tensor<4xi64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %label: i64, %out: f64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %p = tensor.extract %x[%i, %j] : tensor<6x10xf64>
    %q = arith.mulf %p, %a : f64
    linalg.yield %q : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// Two reads of one tensor, which is an operand as well, in a sum; one index is
// computed from the loops alone.
// REDEFINE: %{entry} = several
// RUN: %{make} 'ids=rng.integers(0, 6, 4)'
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy --arg=random:2
func.func @several(%x: tensor<6xf64>, %ids: tensor<4xi64>, %init: tensor<4xf64>) -> tensor<4xf64> {
  %two = arith.constant 2 : index
  %r = linalg.generic {indexing_maps = [#column, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %ids : tensor<6xf64>, tensor<4xi64>) outs(%init : tensor<4xf64>) {
  ^bb0(%a: f64, %id: i64, %out: f64):
    %i = linalg.index 1 : index
    %h = arith.floordivsi %i, %two : index
    %j = arith.index_cast %id : i64 to index
    %p = tensor.extract %x[%h] : tensor<6xf64>
    %q = tensor.extract %x[%j] : tensor<6xf64>
    %s = arith.mulf %p, %a : f64
    %t = arith.mulf %s, %q : f64
    %u = arith.addf %t, %out : f64
    linalg.yield %u : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// Of a tensor of rank 0 there is nothing to say about the index.
// REDEFINE: %{entry} = scalar
// RUN: %{check} --size=4
func.func @scalar(%t: tensor<f64>, %x: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [#0, #0], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%x : tensor<?xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = tensor.extract %t[] : tensor<f64>
    %q = arith.mulf %p, %a : f64
    linalg.yield %q : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// A loop with one iteration is no index, also where it is said to be one.
// REDEFINE: %{entry} = unit
// RUN: %{make} 'ids=rng.integers(0, 10, (4, 1))'
// RUN: %{check} --arg=random:1 --arg=%t/ids.npy
func.func @unit(%x: tensor<2x4x10xf64>, %labels: tensor<4x1xi64>) -> tensor<4x1xf64> {
  %e = tensor.empty() : tensor<4x1xf64>
  %r = linalg.generic {indexing_maps = [#01, #01], iterator_types = ["parallel", "parallel"]}
      ins(%labels : tensor<4x1xi64>) outs(%e : tensor<4x1xf64>) {
  ^bb0(%label: i64, %out: f64):
    %i = linalg.index 0 : index
    %u = linalg.index 1 : index
    %j = arith.index_cast %label : i64 to index
    %p = tensor.extract %x[%u, %i, %j] : tensor<2x4x10xf64>
    linalg.yield %p : f64
  } -> tensor<4x1xf64>
  return %r : tensor<4x1xf64>
}

// Affine indices: reversed, strided, a diagonal, a constant, a remainder.
// REDEFINE: %{entry} = affine
// RUN: %{check}
func.func @affine(%x: tensor<9x4xf64>, %d: tensor<5x6xf64>) -> (tensor<4x4xf64>, tensor<4xf64>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<4x4xf64>
  %r = linalg.generic {indexing_maps = [#01], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf64>) {
  ^bb0(%out: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i2 = arith.muli %i, %c2 : index
    %i3 = arith.addi %i2, %c1 : index
    %k = arith.subi %c3, %j : index
    %p = tensor.extract %x[%i3, %k] : tensor<9x4xf64>
    %q = tensor.extract %d[%c1, %j] : tensor<5x6xf64>
    %m = arith.remui %i, %c3 : index
    %s = tensor.extract %x[%m, %j] : tensor<9x4xf64>
    %t = arith.mulf %p, %q : f64
    %u = arith.mulf %t, %s : f64
    linalg.yield %u : f64
  } -> tensor<4x4xf64>
  %e1 = tensor.empty() : tensor<4xf64>
  %v = linalg.generic {indexing_maps = [#0], iterator_types = ["parallel"]} outs(%e1 : tensor<4xf64>) {
  ^bb0(%out: f64):
    %i = linalg.index 0 : index
    %p = tensor.extract %d[%i, %i] : tensor<5x6xf64>
    %q = math.sin %p : f64
    linalg.yield %q : f64
  } -> tensor<4xf64>
  return %r, %v : tensor<4x4xf64>, tensor<4xf64>
}

// An index that is itself read, one for all iterations, and one that is
// computed from floats.
// REDEFINE: %{entry} = nested
// RUN: %{make} 'a=np.array(2)' 'b=rng.integers(0, 3, 5)' 'c=rng.integers(0, 4, 3)'
// RUN: %{check} --arg=random:1 --arg=%t/a.npy --arg=%t/b.npy --arg=%t/c.npy --arg=random:2
func.func @nested(%x: tensor<3x4x2xf64>, %a: tensor<i64>, %b: tensor<5xindex>, %c: tensor<3xindex>, %f: tensor<2xf64>) -> tensor<5x2xf64> {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = tensor.extract %a[] : tensor<i64>
  %k = arith.index_cast %one : i64 to index
  %e = tensor.empty() : tensor<5x2xf64>
  %r = linalg.generic {indexing_maps = [#row, #column, #01], iterator_types = ["parallel", "parallel"]}
      ins(%b, %f : tensor<5xindex>, tensor<2xf64>) outs(%e : tensor<5x2xf64>) {
  ^bb0(%i: index, %g: f64, %out: f64):
    %l = linalg.index 1 : index
    %j = tensor.extract %c[%i] : tensor<3xindex>
    %p = tensor.extract %x[%i, %j, %l] : tensor<3x4x2xf64>
    %positive = arith.cmpf ogt, %g, %zero : f64
    %m = arith.select %positive, %c1, %c0 : index
    %q = tensor.extract %x[%k, %m, %l] : tensor<3x4x2xf64>
    %s = arith.mulf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<5x2xf64>
  return %r : tensor<5x2xf64>
}

// The position counts in every adjoint: of a window, of what is broadcast and
// of what is transposed.
// REDEFINE: %{entry} = position
// RUN: %{check}
func.func @position(%x: tensor<9xf64>, %w: tensor<3xf64>, %b: tensor<2xf64>) -> tensor<2x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<2x4xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1 * 2 + d2)>, affine_map<(d0, d1, d2) -> (d2)>,
                                        affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %b : tensor<9xf64>, tensor<3xf64>, tensor<2xf64>) outs(%zero : tensor<2x4xf64>) {
  ^bb0(%a: f64, %f: f64, %s: f64, %out: f64):
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %l = arith.addi %i, %k : index
    %m = arith.index_cast %l : index to i64
    %n = arith.sitofp %m : i64 to f64
    %p = arith.mulf %a, %f : f64
    %q = arith.mulf %p, %n : f64
    %t = arith.mulf %q, %s : f64
    %u = arith.addf %t, %out : f64
    linalg.yield %u : f64
  } -> tensor<2x4xf64>
  return %r : tensor<2x4xf64>
}
