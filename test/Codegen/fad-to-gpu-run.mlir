// Runs kernels on the host, block by block and thread by thread, and compares
// each element with the formula: element counts around the size of a tile, one
// block more than needed, aligned and unaligned buffers, in place, and guards
// behind the buffers.

// RUN: fad-opt %s -fad-to-gpu -test-fad-kernel-to-host -symbol-dce \
// RUN:   -convert-scf-to-cf -convert-to-llvm -reconcile-unrealized-casts \
// RUN: | mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so \
// RUN: | FileCheck %s

!f32s = memref<1073741824xf32>
!bf16s = memref<1073741824xbf16>
!i8s = memref<1073741824xi8>
!indices = memref<1073741824xindex>

// Four element types, a scalar, one access of two elements a thread.
func.func private @mixed_op(%x: tensor<?xf32>, %s: f32, %m: tensor<?xi1>, %k: tensor<?xindex>)
    -> (tensor<?xf32>, tensor<?xi1>, tensor<?xindex>, tensor<?xbf16>) {
  %0:4 = fad.elementwise ins(%x, %s, %m, %k : tensor<?xf32>, f32, tensor<?xi1>, tensor<?xindex>)
      -> tensor<?xf32>, tensor<?xi1>, tensor<?xindex>, tensor<?xbf16> {
  ^bb0(%a: f32, %b: f32, %c: i1, %i: index):
    %one = arith.constant 1 : index
    %true = arith.constant true
    %product = arith.mulf %a, %b : f32
    %chosen = arith.select %c, %product, %a : f32
    %not = arith.xori %c, %true : i1
    %next = arith.addi %i, %one : index
    %half = arith.truncf %a : f32 to bf16
    fad.yield %chosen, %not, %next, %half : f32, i1, index, bf16
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<?xf32>, tensor<?xi1>, tensor<?xindex>, tensor<?xbf16>
}
func.func private @mixed_op_0(!f32s, f32, !i8s, !indices, !f32s, !i8s, !indices, !bf16s, i32, index)
func.func private @mixed_op_0_unaligned(!f32s, f32, !i8s, !indices, !f32s, !i8s, !indices, !bf16s, i32, index)

// One input: two accesses of four elements a thread.
func.func private @square_op(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %square = arith.mulf %a, %a : f32
    fad.yield %square : f32
  }
  return %0 : tensor<?xf32>
}
func.func private @square_op_0(!f32s, !f32s, i32, index)
func.func private @square_op_0_unaligned(!f32s, !f32s, i32, index)
func.func private @square_op_0_inplace(!f32s, !f32s, i32, index)

func.func private @square(%n: index, %shift: index, %blocks: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %guarded = arith.addi %n, %c64 : index
  %bytes = arith.muli %guarded, %c4 : index
  %size = arith.addi %bytes, %shift : index
  %xs = memref.alloc(%size) {alignment = 64} : memref<?xi8>
  %ys = memref.alloc(%size) {alignment = 64} : memref<?xi8>
  %x = memref.view %xs[%shift][%guarded] : memref<?xi8> to memref<?xf32>
  %y = memref.view %ys[%shift][%guarded] : memref<?xi8> to memref<?xf32>
  %guard = arith.constant -1.0 : f32
  scf.for %i = %c0 to %guarded step %c1 {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    memref.store %float, %x[%i] : memref<?xf32>
    memref.store %guard, %y[%i] : memref<?xf32>
  }
  %xk = memref.cast %x : memref<?xf32> to !f32s
  %yk = memref.cast %y : memref<?xf32> to !f32s
  %count = arith.index_cast %n : index to i32
  %unaligned = arith.cmpi ne, %shift, %c0 : index
  scf.if %unaligned {
    func.call @square_op_0_unaligned(%xk, %yk, %count, %blocks) : (!f32s, !f32s, i32, index) -> ()
  } else {
    func.call @square_op_0(%xk, %yk, %count, %blocks) : (!f32s, !f32s, i32, index) -> ()
  }
  %wrong = scf.for %i = %c0 to %guarded step %c1 iter_args(%sum = %c0) -> index {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    %square = arith.mulf %float, %float : f32
    %inside = arith.cmpi slt, %i, %n : index
    %expected = arith.select %inside, %square, %guard : f32
    %found = memref.load %y[%i] : memref<?xf32>
    %bad = arith.cmpf une, %found, %expected : f32
    %more = arith.index_castui %bad : i1 to index
    %next = arith.addi %sum, %more : index
    scf.yield %next : index
  }
  vector.print %wrong : index
  memref.dealloc %xs : memref<?xi8>
  memref.dealloc %ys : memref<?xi8>
  return
}

// The same over its own input.
func.func private @square_in_place(%n: index, %blocks: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc(%n) {alignment = 64} : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    memref.store %float, %x[%i] : memref<?xf32>
  }
  %xk = memref.cast %x : memref<?xf32> to !f32s
  %count = arith.index_cast %n : index to i32
  func.call @square_op_0_inplace(%xk, %xk, %count, %blocks) : (!f32s, !f32s, i32, index) -> ()
  %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> index {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    %expected = arith.mulf %float, %float : f32
    %found = memref.load %x[%i] : memref<?xf32>
    %bad = arith.cmpf une, %found, %expected : f32
    %more = arith.index_castui %bad : i1 to index
    %next = arith.addi %sum, %more : index
    scf.yield %next : index
  }
  vector.print %wrong : index
  memref.dealloc %x : memref<?xf32>
  return
}

func.func private @mixed(%n: index, %shift: index, %blocks: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %scale = arith.constant 3.0 : f32
  %quarter = arith.constant 0.25 : f32
  %guarded = arith.addi %n, %c64 : index
  %bytes = arith.muli %guarded, %c8 : index
  %size = arith.addi %bytes, %shift : index
  %xs = memref.alloc(%size) {alignment = 64} : memref<?xi8>
  %x = memref.view %xs[%shift][%guarded] : memref<?xi8> to memref<?xf32>
  %m = memref.alloc(%size) {alignment = 64} : memref<?xi8>
  %k = memref.alloc(%size) {alignment = 64} : memref<?xindex>
  %y = memref.alloc(%size) {alignment = 64} : memref<?xf32>
  %o = memref.alloc(%size) {alignment = 64} : memref<?xi8>
  %j = memref.alloc(%size) {alignment = 64} : memref<?xindex>
  %h = memref.alloc(%size) {alignment = 64} : memref<?xbf16>
  %guard = arith.constant -1.0 : f32
  %guard_i8 = arith.constant 77 : i8
  %guard_index = arith.constant 99 : index
  %guard_bf16 = arith.constant -1.0 : bf16
  scf.for %i = %c0 to %guarded step %c1 {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    %value = arith.mulf %float, %quarter : f32
    memref.store %value, %x[%i] : memref<?xf32>
    %odd = arith.remsi %i, %c2 : index
    %odd_i8 = arith.index_cast %odd : index to i8
    memref.store %odd_i8, %m[%i] : memref<?xi8>
    %seven = arith.muli %i, %c7 : index
    memref.store %seven, %k[%i] : memref<?xindex>
    memref.store %guard, %y[%i] : memref<?xf32>
    memref.store %guard_i8, %o[%i] : memref<?xi8>
    memref.store %guard_index, %j[%i] : memref<?xindex>
    memref.store %guard_bf16, %h[%i] : memref<?xbf16>
  }
  %xk = memref.cast %x : memref<?xf32> to !f32s
  %mk = memref.cast %m : memref<?xi8> to !i8s
  %kk = memref.cast %k : memref<?xindex> to !indices
  %yk = memref.cast %y : memref<?xf32> to !f32s
  %ok = memref.cast %o : memref<?xi8> to !i8s
  %jk = memref.cast %j : memref<?xindex> to !indices
  %hk = memref.cast %h : memref<?xbf16> to !bf16s
  %count = arith.index_cast %n : index to i32
  %unaligned = arith.cmpi ne, %shift, %c0 : index
  scf.if %unaligned {
    func.call @mixed_op_0_unaligned(%xk, %scale, %mk, %kk, %yk, %ok, %jk, %hk, %count, %blocks)
        : (!f32s, f32, !i8s, !indices, !f32s, !i8s, !indices, !bf16s, i32, index) -> ()
  } else {
    func.call @mixed_op_0(%xk, %scale, %mk, %kk, %yk, %ok, %jk, %hk, %count, %blocks)
        : (!f32s, f32, !i8s, !indices, !f32s, !i8s, !indices, !bf16s, i32, index) -> ()
  }
  %wrong = scf.for %i = %c0 to %guarded step %c1 iter_args(%sum = %c0) -> index {
    %int = arith.index_cast %i : index to i32
    %float = arith.sitofp %int : i32 to f32
    %value = arith.mulf %float, %quarter : f32
    %odd = arith.remsi %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %inside = arith.cmpi slt, %i, %n : index

    %scaled = arith.mulf %value, %scale : f32
    %chosen = arith.select %is_odd, %scaled, %value : f32
    %want_y = arith.select %inside, %chosen, %guard : f32
    %found_y = memref.load %y[%i] : memref<?xf32>
    %bad_y = arith.cmpf une, %found_y, %want_y : f32

    %even = arith.subi %c1, %odd : index
    %even_i8 = arith.index_cast %even : index to i8
    %want_o = arith.select %inside, %even_i8, %guard_i8 : i8
    %found_o = memref.load %o[%i] : memref<?xi8>
    %bad_o = arith.cmpi ne, %found_o, %want_o : i8

    %seven = arith.muli %i, %c7 : index
    %next = arith.addi %seven, %c1 : index
    %want_j = arith.select %inside, %next, %guard_index : index
    %found_j = memref.load %j[%i] : memref<?xindex>
    %bad_j = arith.cmpi ne, %found_j, %want_j : index

    // The reference rounds as the kernel does: only places are compared.
    %narrow = arith.truncf %value : f32 to bf16
    %want_h = arith.select %inside, %narrow, %guard_bf16 : bf16
    %found_h = memref.load %h[%i] : memref<?xbf16>
    %found_bits = arith.bitcast %found_h : bf16 to i16
    %want_bits = arith.bitcast %want_h : bf16 to i16
    %bad_h = arith.cmpi ne, %found_bits, %want_bits : i16

    %bad_yo = arith.ori %bad_y, %bad_o : i1
    %bad_jh = arith.ori %bad_j, %bad_h : i1
    %bad = arith.ori %bad_yo, %bad_jh : i1
    %more = arith.index_castui %bad : i1 to index
    %total = arith.addi %sum, %more : index
    scf.yield %total : index
  }
  vector.print %wrong : index
  memref.dealloc %xs : memref<?xi8>
  memref.dealloc %m : memref<?xi8>
  memref.dealloc %k : memref<?xindex>
  memref.dealloc %y : memref<?xf32>
  memref.dealloc %o : memref<?xi8>
  memref.dealloc %j : memref<?xindex>
  memref.dealloc %h : memref<?xbf16>
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c511 = arith.constant 511 : index
  %c512 = arith.constant 512 : index
  %c513 = arith.constant 513 : index
  %c2047 = arith.constant 2047 : index
  %c2048 = arith.constant 2048 : index
  %c5000 = arith.constant 5000 : index
  %c12 = arith.constant 12 : index
  // CHECK-COUNT-13: {{^}}0{{$}}
  // CHECK-NOT:      {{.}}
  func.call @square(%c0, %c0, %c1) : (index, index, index) -> ()
  func.call @square(%c1, %c0, %c2) : (index, index, index) -> ()
  func.call @square(%c2047, %c0, %c2) : (index, index, index) -> ()
  func.call @square(%c2048, %c0, %c2) : (index, index, index) -> ()
  func.call @square(%c5000, %c0, %c4) : (index, index, index) -> ()
  func.call @square(%c5000, %c4, %c4) : (index, index, index) -> ()
  func.call @square_in_place(%c5000, %c4) : (index, index) -> ()
  func.call @mixed(%c0, %c0, %c1) : (index, index, index) -> ()
  func.call @mixed(%c511, %c0, %c2) : (index, index, index) -> ()
  func.call @mixed(%c512, %c0, %c2) : (index, index, index) -> ()
  func.call @mixed(%c513, %c0, %c3) : (index, index, index) -> ()
  func.call @mixed(%c513, %c12, %c3) : (index, index, index) -> ()
  func.call @mixed(%c5000, %c0, %c12) : (index, index, index) -> ()
  return
}
