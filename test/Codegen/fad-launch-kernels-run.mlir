// What kernels compute, started for buffers of many kinds, against upstream's
// loops: sums of the results, each times a number that depends on its place. A
// block has 32 threads and a tile one vector for each, so that small buffers
// have full tiles.

// DEFINE: %{kernels} = -test-fad-kernel-to-host
// DEFINE: %{lower} = -convert-linalg-to-loops -fad-expand-buffers -expand-strided-metadata -lower-affine \
// DEFINE:   -convert-scf-to-cf -convert-to-llvm -reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -entry-point-result=void \
// DEFINE:   -shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so

// RUN: fad-opt %s %{lower} | %{run} -e main > %t.loops
// RUN: fad-opt %s -fad-to-gpu="block-size=32 accesses=1" -fad-launch-kernels %{kernels} %{lower} \
// RUN: | %{run} -e main > %t.kernels
// RUN: diff %t.loops %t.kernels
// RUN: fad-opt %s -fad-to-gpu -fad-launch-kernels %{kernels} %{lower} | %{run} -e main > %t.large
// RUN: diff %t.loops %t.large
// RUN: FileCheck %s < %t.kernels

// CHECK-COUNT-33: {{^}}{{[1-9-].*$}}
// CHECK-COUNT-3:  {{^}}0{{$}}
// CHECK-NOT:      {{.}}

// Several launches: of rows that fit, and of one element for all.

// RUN: fad-opt %s %{lower} | %{run} -e parts > %t.loops
// RUN: fad-opt %s -fad-to-gpu="block-size=32 accesses=1" -fad-launch-kernels=largest-launch=300 \
// RUN:   %{kernels} %{lower} | %{run} -e parts > %t.kernels
// RUN: diff %t.loops %t.kernels
// RUN: FileCheck %s --check-prefix=PARTS < %t.kernels
// PARTS-COUNT-4: {{^}}{{[1-9-].*$}}

// RUN: fad-opt %s -fad-to-gpu -fad-launch-kernels=largest-launch=100 %{kernels} %{lower} > %t.mlir
// RUN: not --crash stdbuf -o0 %{run} %t.mlir -e too_many 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: more elements than one launch computes, none of whose parts begins where an operand is repeated; split the tensors

#all = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (c)>
#column = affine_map<(r, c) -> (r)>
#one = affine_map<(r, c) -> ()>
#cube = affine_map<(a, b, c) -> (a, b, c)>
#plane = affine_map<(a, b, c) -> (b, c)>
#middle = affine_map<(a, b, c) -> (b)>

!matrix = memref<?x?xf32>
!strided = memref<?x?xf32, strided<[?, 1], offset: ?>>

// Everything that is repeated, and a scalar from outside.
func.func private @repeated(%x: !matrix, %row: memref<?xf32>, %column: memref<?xf32>,
                            %one: memref<f32>, %s: f32, %y: !matrix) {
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#all, #row, #column, #one, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %column, %one : !matrix, memref<?xf32>, memref<?xf32>, memref<f32>)
      outs(%y : !matrix) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    %3 = arith.mulf %d, %s : f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.mulf %4, %half : f32
    linalg.yield %5 : f32
  }
  return
}

// A row and one element.
func.func private @rows(%x: !matrix, %row: memref<?xf32>, %one: memref<f32>, %y: !matrix) {
  linalg.generic {indexing_maps = [#all, #row, #one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %one : !matrix, memref<?xf32>, memref<f32>) outs(%y : !matrix) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    linalg.yield %2 : f32
  }
  return
}

// Static sizes.
func.func private @static(%row: memref<12xf32>, %column: memref<50xf32>, %y: memref<50x12xf32>) {
  linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%row, %column : memref<12xf32>, memref<50xf32>) outs(%y : memref<50x12xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  }
  return
}

// Planes, middle dimensions, several types and results.
func.func private @mixed(%x: memref<?x?x?xf32>, %p: memref<?x?xbf16>, %m: memref<?xf64>,
                         %y: memref<?x?x?xf64>, %h: memref<?x?x?xbf16>, %b: memref<?x?x?xi1>,
                         %k: memref<?x?x?xindex>) {
  linalg.generic {indexing_maps = [#cube, #plane, #middle, #cube, #cube, #cube, #cube],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %p, %m : memref<?x?x?xf32>, memref<?x?xbf16>, memref<?xf64>)
      outs(%y, %h, %b, %k : memref<?x?x?xf64>, memref<?x?x?xbf16>, memref<?x?x?xi1>,
                            memref<?x?x?xindex>) {
  ^bb0(%a: f32, %c: bf16, %d: f64, %o0: f64, %o1: bf16, %o2: i1, %o3: index):
    %wide = arith.extf %a : f32 to f64
    %plane = arith.extf %c : bf16 to f64
    %sum = arith.addf %wide, %plane : f64
    %product = arith.mulf %sum, %d : f64
    %narrow = arith.truncf %a : f32 to bf16
    %is = arith.cmpf olt, %wide, %d : f64
    %int = arith.fptosi %a : f32 to i64
    %place = arith.index_cast %int : i64 to index
    linalg.yield %product, %narrow, %is, %place : f64, bf16, i1, index
  }
  return
}

// Buffers with gaps.
func.func private @gaps(%x: !strided, %y: !strided) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : !strided) outs(%y : !strided) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.mulf %a, %a : f32
    linalg.yield %1 : f32
  }
  return
}

func.func private @rank0(%x: memref<f32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  }
  return
}

// Numbers with few digits, so that sums of them are exact.
func.func private @fill(%n: index, %seed: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c37 = arith.constant 37 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.muli %i, %seed : index
    %j = arith.addi %k, %seed : index
    %m = arith.remui %j, %c37 : index
    %int = arith.index_cast %m : index to i32
    %float = arith.sitofp %int : i32 to f32
    memref.store %float, %x[%i] : memref<?xf32>
  }
  return
}

func.func private @vector(%n: index, %seed: index) -> memref<?xf32> {
  %x = memref.alloc(%n) {alignment = 64} : memref<?xf32>
  func.call @fill(%n, %seed, %x) : (index, index, memref<?xf32>) -> ()
  return %x : memref<?xf32>
}

// A matrix that begins so many bytes after an aligned address, with four
// numbers behind it.
func.func private @matrix(%r: index, %c: index, %seed: index, %shift: index) -> !matrix {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.muli %r, %c : index
  %guarded = arith.addi %n, %c4 : index
  %some = arith.addi %guarded, %c8 : index
  %bytes = arith.muli %some, %c4 : index
  %b = memref.alloc(%bytes) {alignment = 64} : memref<?xi8>
  %flat = memref.view %b[%shift][%guarded] : memref<?xi8> to memref<?xf32>
  func.call @fill(%guarded, %seed, %flat) : (index, index, memref<?xf32>) -> ()
  %x = memref.reinterpret_cast %flat to offset: [0], sizes: [%r, %c], strides: [%c, 1]
      : memref<?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %y = memref.cast %x : memref<?x?xf32, strided<[?, 1]>> to !matrix
  return %y : !matrix
}

// Prints the sum of the numbers of `x` and of what is behind them, each times
// one more than its place modulo 31.
func.func private @print(%x: !matrix, %r: index, %c: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c31 = arith.constant 31 : index
  %zero = arith.constant 0.0 : f64
  %n = arith.muli %r, %c : index
  %guarded = arith.addi %n, %c4 : index
  %flat = memref.reinterpret_cast %x to offset: [0], sizes: [%guarded], strides: [1]
      : !matrix to memref<?xf32>
  %sum = scf.for %i = %c0 to %guarded step %c1 iter_args(%so_far = %zero) -> f64 {
    %m = arith.remui %i, %c31 : index
    %k = arith.addi %m, %c1 : index
    %int = arith.index_cast %k : index to i32
    %weight = arith.sitofp %int : i32 to f64
    %a = memref.load %flat[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %term = arith.mulf %w, %weight : f64
    %next = arith.addf %so_far, %term : f64
    scf.yield %next : f64
  }
  vector.print %sum : f64
  return
}

// Prints what @repeated makes: into another buffer, and in place.
func.func private @try_repeated(%r: index, %c: index, %shift: index) {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %s = arith.constant 3.0 : f32
  %x = func.call @matrix(%r, %c, %c3, %shift) : (index, index, index, index) -> !matrix
  %y = func.call @matrix(%r, %c, %c5, %shift) : (index, index, index, index) -> !matrix
  %row = func.call @vector(%c, %c7) : (index, index) -> memref<?xf32>
  %column = func.call @vector(%r, %c11) : (index, index) -> memref<?xf32>
  %one = memref.alloc() : memref<f32>
  memref.store %s, %one[] : memref<f32>
  func.call @repeated(%x, %row, %column, %one, %s, %y)
      : (!matrix, memref<?xf32>, memref<?xf32>, memref<f32>, f32, !matrix) -> ()
  func.call @print(%y, %r, %c) : (!matrix, index, index) -> ()
  func.call @repeated(%x, %row, %column, %one, %s, %x)
      : (!matrix, memref<?xf32>, memref<?xf32>, memref<f32>, f32, !matrix) -> ()
  func.call @print(%x, %r, %c) : (!matrix, index, index) -> ()
  return
}

func.func private @try_rows(%r: index, %c: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %s = arith.constant 3.0 : f32
  %x = func.call @matrix(%r, %c, %c3, %c0) : (index, index, index, index) -> !matrix
  %y = func.call @matrix(%r, %c, %c5, %c0) : (index, index, index, index) -> !matrix
  %row = func.call @vector(%c, %c7) : (index, index) -> memref<?xf32>
  %one = memref.alloc() : memref<f32>
  memref.store %s, %one[] : memref<f32>
  func.call @rows(%x, %row, %one, %y) : (!matrix, memref<?xf32>, memref<f32>, !matrix) -> ()
  func.call @print(%y, %r, %c) : (!matrix, index, index) -> ()
  return
}

func.func private @try_static() {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c12 = arith.constant 12 : index
  %c50 = arith.constant 50 : index
  %row = func.call @vector(%c12, %c7) : (index, index) -> memref<?xf32>
  %column = func.call @vector(%c50, %c7) : (index, index) -> memref<?xf32>
  %y = func.call @matrix(%c50, %c12, %c7, %c0) : (index, index, index, index) -> !matrix
  %r = memref.cast %row : memref<?xf32> to memref<12xf32>
  %c = memref.cast %column : memref<?xf32> to memref<50xf32>
  %m = memref.cast %y : !matrix to memref<50x12xf32>
  func.call @static(%r, %c, %m) : (memref<12xf32>, memref<50xf32>, memref<50x12xf32>) -> ()
  func.call @print(%y, %c50, %c12) : (!matrix, index, index) -> ()
  return
}

// Every other column, over itself and from another buffer.
func.func private @try_gaps() {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c20 = arith.constant 20 : index
  %c40 = arith.constant 40 : index
  %x = func.call @matrix(%c40, %c20, %c3, %c0) : (index, index, index, index) -> !matrix
  %y = func.call @matrix(%c40, %c20, %c7, %c0) : (index, index, index, index) -> !matrix
  %from = memref.subview %x[1, 2] [%c20, %c7] [1, 1] : !matrix to !strided
  %to = memref.subview %y[3, 1] [%c20, %c7] [1, 1] : !matrix to !strided
  func.call @gaps(%from, %to) : (!strided, !strided) -> ()
  func.call @print(%y, %c40, %c20) : (!matrix, index, index) -> ()
  func.call @gaps(%from, %from) : (!strided, !strided) -> ()
  func.call @print(%x, %c40, %c20) : (!matrix, index, index) -> ()
  return
}

func.func private @try_rank0() {
  %s = arith.constant 21.0 : f32
  %x = memref.alloc() : memref<f32>
  %y = memref.alloc() : memref<f32>
  memref.store %s, %x[] : memref<f32>
  func.call @rank0(%x, %y) : (memref<f32>, memref<f32>) -> ()
  %r = memref.load %y[] : memref<f32>
  vector.print %r : f32
  return
}

func.func private @try_mixed(%a: index, %b: index, %c: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c13 = arith.constant 13 : index
  %zero = arith.constant 0.0 : f64
  %ab = arith.muli %a, %b : index
  %bc = arith.muli %b, %c : index
  %flat = func.call @matrix(%ab, %c, %c3, %c0) : (index, index, index, index) -> !matrix
  %x = memref.expand_shape %flat [[0, 1], [2]] output_shape [%a, %b, %c] : !matrix into memref<?x?x?xf32>
  %p = memref.alloc(%b, %c) {alignment = 64} : memref<?x?xbf16>
  %m = memref.alloc(%b) {alignment = 64} : memref<?xf64>
  scf.for %i = %c0 to %b step %c1 {
    %ii = arith.remui %i, %c13 : index
    %int = arith.index_cast %ii : index to i32
    %wide = arith.sitofp %int : i32 to f64
    memref.store %wide, %m[%i] : memref<?xf64>
    scf.for %j = %c0 to %c step %c1 {
      %k = arith.addi %ii, %j : index
      %kk = arith.remui %k, %c13 : index
      %kint = arith.index_cast %kk : index to i32
      %half = arith.sitofp %kint : i32 to bf16
      memref.store %half, %p[%i, %j] : memref<?x?xbf16>
    }
  }
  %y = memref.alloc(%a, %b, %c) {alignment = 64} : memref<?x?x?xf64>
  %h = memref.alloc(%a, %b, %c) {alignment = 64} : memref<?x?x?xbf16>
  %is = memref.alloc(%a, %b, %c) {alignment = 64} : memref<?x?x?xi1>
  %k = memref.alloc(%a, %b, %c) {alignment = 64} : memref<?x?x?xindex>
  func.call @mixed(%x, %p, %m, %y, %h, %is, %k)
      : (memref<?x?x?xf32>, memref<?x?xbf16>, memref<?xf64>, memref<?x?x?xf64>,
         memref<?x?x?xbf16>, memref<?x?x?xi1>, memref<?x?x?xindex>) -> ()
  %sum = scf.for %i = %c0 to %a step %c1 iter_args(%s0 = %zero) -> f64 {
    %s1 = scf.for %j = %c0 to %b step %c1 iter_args(%s2 = %s0) -> f64 {
      %s3 = scf.for %l = %c0 to %c step %c1 iter_args(%s4 = %s2) -> f64 {
        %y1 = memref.load %y[%i, %j, %l] : memref<?x?x?xf64>
        %h1 = memref.load %h[%i, %j, %l] : memref<?x?x?xbf16>
        %is1 = memref.load %is[%i, %j, %l] : memref<?x?x?xi1>
        %k1 = memref.load %k[%i, %j, %l] : memref<?x?x?xindex>
        %h2 = arith.extf %h1 : bf16 to f64
        %is2 = arith.uitofp %is1 : i1 to f64
        %k2 = arith.index_cast %k1 : index to i32
        %k3 = arith.sitofp %k2 : i32 to f64
        %t0 = arith.addf %y1, %h2 : f64
        %t1 = arith.addf %is2, %k3 : f64
        %t2 = arith.addf %t0, %t1 : f64
        %place = arith.addi %i, %l : index
        %weight = arith.index_cast %place : index to i32
        %w = arith.sitofp %weight : i32 to f64
        %term = arith.mulf %t2, %w : f64
        %next = arith.addf %s4, %term : f64
        scf.yield %next : f64
      }
      scf.yield %s3 : f64
    }
    scf.yield %s1 : f64
  }
  vector.print %sum : f64
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c129 = arith.constant 129 : index
  %c4096 = arith.constant 4096 : index
  // Rows of a whole number of vectors, and of one that is none.
  func.call @try_repeated(%c129, %c8, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c129, %c7, %c0) : (index, index, index) -> ()
  // Rows of one element, and columns of one: what has a size that is dynamic is
  // no row because it happens to have one element.
  func.call @try_repeated(%c4096, %c1, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c1, %c4096, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c129, %c1, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c5, %c129, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c1, %c1, %c0) : (index, index, index) -> ()
  // Unaligned.
  func.call @try_repeated(%c129, %c8, %c4) : (index, index, index) -> ()
  func.call @try_repeated(%c129, %c8, %c16) : (index, index, index) -> ()
  // Nothing to do: what is behind the buffer is printed.
  func.call @try_repeated(%c0, %c8, %c0) : (index, index, index) -> ()
  func.call @try_repeated(%c8, %c0, %c0) : (index, index, index) -> ()
  func.call @try_rows(%c4096, %c1) : (index, index) -> ()
  func.call @try_rows(%c4096, %c8) : (index, index) -> ()
  func.call @try_static() : () -> ()
  func.call @try_gaps() : () -> ()
  func.call @try_rank0() : () -> ()
  func.call @try_mixed(%c16, %c8, %c8) : (index, index, index) -> ()
  func.call @try_mixed(%c16, %c7, %c5) : (index, index, index) -> ()
  func.call @try_mixed(%c4096, %c4, %c1) : (index, index, index) -> ()
  func.call @try_mixed(%c16, %c1, %c129) : (index, index, index) -> ()
  func.call @try_mixed(%c16, %c129, %c1) : (index, index, index) -> ()
  // None.
  func.call @try_mixed(%c0, %c8, %c8) : (index, index, index) -> ()
  func.call @try_mixed(%c8, %c0, %c8) : (index, index, index) -> ()
  func.call @try_mixed(%c8, %c8, %c0) : (index, index, index) -> ()
  return
}

func.func @parts() {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c299 = arith.constant 299 : index
  %c1000 = arith.constant 1000 : index
  func.call @try_rows(%c1000, %c8) : (index, index) -> ()
  func.call @try_rows(%c1000, %c7) : (index, index) -> ()
  func.call @try_rows(%c1000, %c1) : (index, index) -> ()
  func.call @try_rows(%c7, %c299) : (index, index) -> ()
  return
}

func.func @too_many() {
  %c2 = arith.constant 2 : index
  %c299 = arith.constant 299 : index
  func.call @try_rows(%c2, %c299) : (index, index) -> ()
  return
}
