// Scatter, index_add, sort, top-k and cumulative reductions as loops and
// reductions of upstream dialects: what other forms of them are decomposed to.

// RUN: fad-opt %s --fad-nest="entry=elements" | FileCheck %s
// RUN: fad-runner %s --check-gradients --entry=scatters --policy=bp
// RUN: fad-runner %s --check-gradients --entry=scatters --policy=recompute
// RUN: fad-runner %s --check-gradients --entry=scatters --policy=fad
// RUN: fad-runner %s --check-gradients --entry=scatters --policy=auto
// RUN: fad-runner %s --check-gradients --entry=sorts --size=5 --policy=bp
// RUN: fad-runner %s --check-gradients --entry=sorts --size=1 --policy=recompute
// RUN: fad-runner %s --check-gradients --entry=sorts --size=4 --policy=fad
// RUN: fad-runner %s --check-gradients --entry=sorts --size=4 --policy=auto
// RUN: fad-runner %s --check-gradients --entry=scans --size=4 --policy=bp
// RUN: fad-runner %s --check-gradients --entry=scans --size=0 --policy=recompute
// RUN: fad-runner %s --check-gradients --entry=scans --size=3 --policy=fad
// RUN: fad-runner %s --check-gradients --entry=scans --size=4 --policy=auto

// Of equal elements, a loop that takes the later one has its gradient there, as
// PyTorch's cummax, and a reduction shares it.

// RUN: fad-runner %s --entry=cummax --arg=7 --size=3 --policy=bp | FileCheck %s --check-prefix=LATER
// RUN: fad-runner %s --entry=cummax --arg=7 --size=3 --policy=fad | FileCheck %s --check-prefix=LATER
// RUN: fad-runner %s --entry=cummax_reduced --arg=7 --size=3 --policy=fad | FileCheck %s --check-prefix=SHARED
// LATER:  grad0: tensor<3xf64> = [1, 1, 1]
// SHARED: grad0: tensor<3xf64> = [1.833333, 0.8333333, 0.3333333]

func.func @scatters(%x: tensor<6x2xf64>, %u: tensor<5x2xf64>) -> (tensor<6x2xf64>, tensor<6x2xf64>, tensor<6x2xf64>, tensor<6x2xf64>) {
  %a = call @index_add(%x, %u) : (tensor<6x2xf64>, tensor<5x2xf64>) -> tensor<6x2xf64>
  %b = call @elements(%x, %u) : (tensor<6x2xf64>, tensor<5x2xf64>) -> tensor<6x2xf64>
  %c = call @overwrite(%x, %u) : (tensor<6x2xf64>, tensor<5x2xf64>) -> tensor<6x2xf64>
  %d = call @amax(%x, %u) : (tensor<6x2xf64>, tensor<5x2xf64>) -> tensor<6x2xf64>
  return %a, %b, %c, %d : tensor<6x2xf64>, tensor<6x2xf64>, tensor<6x2xf64>, tensor<6x2xf64>
}

// Rows, of which two go to one place.
func.func @index_add(%x: tensor<6x2xf64>, %u: tensor<5x2xf64>) -> tensor<6x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %places = arith.constant dense<[4, 0, 4, 3, 5]> : tensor<5xi64>
  %start = math.sin %x : tensor<6x2xf64>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %start) -> tensor<6x2xf64> {
    %place = tensor.extract %places[%i] : tensor<5xi64>
    %row = arith.index_cast %place : i64 to index
    %update = tensor.extract_slice %u[%i, 0] [1, 2] [1, 1] : tensor<5x2xf64> to tensor<2xf64>
    %old = tensor.extract_slice %sum[%row, 0] [1, 2] [1, 1] : tensor<6x2xf64> to tensor<2xf64>
    %new = arith.addf %old, %update : tensor<2xf64>
    %next = tensor.insert_slice %new into %sum[%row, 0] [1, 2] [1, 1] : tensor<2xf64> into tensor<6x2xf64>
    scf.yield %next : tensor<6x2xf64>
  }
  %y = math.exp %r : tensor<6x2xf64>
  return %y : tensor<6x2xf64>
}

// Elements. What is read of a tensor is added to its cotangent in its place, not
// to a tensor of zeros, and nothing is stacked but what is multiplied.

// CHECK-LABEL: func.func @elements_backward(
// CHECK:         linalg.fill
// CHECK:         scf.for
// CHECK-NOT:       linalg.fill
// CHECK:           scf.for
// CHECK-NOT:         linalg.fill
// CHECK:             tensor.insert
// CHECK:         return
func.func @elements(%x: tensor<6x2xf64>, %u: tensor<5x2xf64>) -> tensor<6x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %places = arith.constant dense<[[4, 0], [4, 5], [2, 3], [3, 3], [4, 0]]> : tensor<5x2xi32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%outer = %x) -> tensor<6x2xf64> {
    %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%sum = %outer) -> tensor<6x2xf64> {
      %place = tensor.extract %places[%i, %j] : tensor<5x2xi32>
      %row = arith.index_cast %place : i32 to index
      %update = tensor.extract %u[%i, %j] : tensor<5x2xf64>
      %old = tensor.extract %sum[%row, %j] : tensor<6x2xf64>
      %new = arith.addf %old, %update : f64
      %next = tensor.insert %new into %sum[%row, %j] : tensor<6x2xf64>
      scf.yield %next : tensor<6x2xf64>
    }
    scf.yield %inner : tensor<6x2xf64>
  }
  return %r : tensor<6x2xf64>
}

// The last update for a place stays.
func.func @overwrite(%x: tensor<6x2xf64>, %u: tensor<5x2xf64>) -> tensor<6x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %places = arith.constant dense<[1, 4, 1, 1, 0]> : tensor<5xindex>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%outer = %x) -> tensor<6x2xf64> {
    %row = tensor.extract %places[%i] : tensor<5xindex>
    %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%all = %outer) -> tensor<6x2xf64> {
      %update = tensor.extract %u[%i, %j] : tensor<5x2xf64>
      %new = math.sin %update : f64
      %next = tensor.insert %new into %all[%row, %j] : tensor<6x2xf64>
      scf.yield %next : tensor<6x2xf64>
    }
    scf.yield %inner : tensor<6x2xf64>
  }
  return %r : tensor<6x2xf64>
}

func.func @amax(%x: tensor<6x2xf64>, %u: tensor<5x2xf64>) -> tensor<6x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %places = arith.constant dense<[1, 4, 1, 1, 0]> : tensor<5xindex>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%all = %x) -> tensor<6x2xf64> {
    %row = tensor.extract %places[%i] : tensor<5xindex>
    %update = tensor.extract %u[%i, %c1] : tensor<5x2xf64>
    %old = tensor.extract %all[%row, %c0] : tensor<6x2xf64>
    %new = arith.maximumf %old, %update : f64
    %next = tensor.insert %new into %all[%row, %c0] : tensor<6x2xf64>
    scf.yield %next : tensor<6x2xf64>
  }
  return %r : tensor<6x2xf64>
}

func.func @sorts(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<1xf64>) {
  %a = call @sort(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %b = call @sort_by_index(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %c = tensor.extract_slice %b[0] [1] [1] : tensor<?xf64> to tensor<1xf64>
  %top = math.exp %c : tensor<1xf64>
  return %a, %b, %top : tensor<?xf64>, tensor<?xf64>, tensor<1xf64>
}

// Neighbors are exchanged, as often as there are elements.
func.func @sort(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %last = arith.subi %n, %c1 : index
  %s = math.sin %x : tensor<?xf64>
  %r = scf.for %phase = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<?xf64> {
    %low = arith.remui %phase, %c2 : index
    %b = scf.for %i = %low to %last step %c2 iter_args(%v = %a) -> tensor<?xf64> {
      %j = arith.addi %i, %c1 : index
      %first = tensor.extract %v[%i] : tensor<?xf64>
      %second = tensor.extract %v[%j] : tensor<?xf64>
      %ordered = arith.cmpf ole, %first, %second : f64
      %w = scf.if %ordered -> tensor<?xf64> {
        scf.yield %v : tensor<?xf64>
      } else {
        %p = tensor.insert %second into %v[%i] : tensor<?xf64>
        %q = tensor.insert %first into %p[%j] : tensor<?xf64>
        scf.yield %q : tensor<?xf64>
      }
      scf.yield %w : tensor<?xf64>
    }
    scf.yield %b : tensor<?xf64>
  }
  %y = math.exp %r : tensor<?xf64>
  return %y : tensor<?xf64>
}

// The rank of each element, where it belongs, and what is there then: from the
// greatest to the least. Ranks have no gradient.
func.func @sort_by_index(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = tensor.empty(%n) : tensor<?xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %ranks = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%zeros : tensor<?xi32>) {
  ^bb0(%a: f64, %b: f64, %sum: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %greater = arith.cmpf ogt, %b, %a : f64
    %equal = arith.cmpf oeq, %b, %a : f64
    %before = arith.cmpi ult, %j, %i : index
    %tie = arith.andi %equal, %before : i1
    %counts = arith.ori %greater, %tie : i1
    %more = arith.addi %sum, %one : i32
    %next = arith.select %counts, %more, %sum : i32
    linalg.yield %next : i32
  } -> tensor<?xi32>
  %order = tensor.empty(%n) : tensor<?xindex>
  %c1 = arith.constant 1 : index
  %places = scf.for %i = %c0 to %n step %c1 iter_args(%all = %order) -> tensor<?xindex> {
    %rank = tensor.extract %ranks[%i] : tensor<?xi32>
    %k = arith.index_cast %rank : i32 to index
    %next = tensor.insert %i into %all[%k] : tensor<?xindex>
    scf.yield %next : tensor<?xindex>
  }
  %o = tensor.empty(%n) : tensor<?xf64>
  %sorted = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%places : tensor<?xindex>) outs(%o : tensor<?xf64>) {
  ^bb0(%k: index, %out: f64):
    %v = tensor.extract %x[%k] : tensor<?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  return %sorted : tensor<?xf64>
}

func.func @scans(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %a = call @cummax(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %b = call @cummax_reduced(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %c = call @logcumsumexp(%x) : (tensor<?xf64>) -> tensor<?xf64>
  %d = call @cumprod(%x) : (tensor<?xf64>) -> tensor<?xf64>
  return %a, %b, %c, %d : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}

func.func @cummax(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %least = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%max = %least, %all = %e) -> (f64, tensor<?xf64>) {
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %c = arith.cmpf oge, %v, %max : f64
    %m = arith.select %c, %v, %max : f64
    %next = tensor.insert %m into %all[%i] : tensor<?xf64>
    scf.yield %m, %next : f64, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

func.func @cummax_reduced(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %least = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %init = linalg.fill ins(%least : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?xf64>) outs(%init : tensor<?xf64>) {
  ^bb0(%v: f64, %max: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ule, %j, %i : index
    %term = arith.select %c, %v, %least : f64
    %m = arith.maximumf %term, %max : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// The maximum is that of all before; it cancels.
func.func @logcumsumexp(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %least = arith.constant -1.0e300 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %least, %all = %e) -> (f64, tensor<?xf64>) {
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %max = arith.maximumf %v, %sum : f64
    %p = arith.subf %v, %max : f64
    %q = arith.subf %sum, %max : f64
    %a = math.exp %p : f64
    %b = math.exp %q : f64
    %ab = arith.addf %a, %b : f64
    %log = math.log %ab : f64
    %m = arith.addf %log, %max : f64
    %next = tensor.insert %m into %all[%i] : tensor<?xf64>
    scf.yield %m, %next : f64, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

func.func @cumprod(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %one = arith.constant 1.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%product = %one, %all = %e) -> (f64, tensor<?xf64>) {
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %m = arith.mulf %v, %product : f64
    %next = tensor.insert %m into %all[%i] : tensor<?xf64>
    scf.yield %m, %next : f64, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}
