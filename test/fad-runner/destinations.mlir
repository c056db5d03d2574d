// A destination of other sizes than the operation needs is an error before the function
// runs, and so are operands that do not fit each other. test/python/core/destinations.py
// has every operation.

// RUN: %python %S/Inputs/make_arrays.py %t 'x=np.ones((16, 4), "f4")' 'odd=np.ones((15, 4), "f4")' \
// RUN:   'p=np.ones((2, 4, 8, 1), "f4")' 'q=np.arange(16, dtype="f4").reshape(2, 8)' 'a4=np.arange(4, dtype="f4")' 'a8=np.arange(8, dtype="f4")' \
// RUN:   'm24=np.ones((2, 4), "f4")' 'm34=np.ones((3, 4), "f4")' 'm35=np.ones((3, 5), "f4")' \
// RUN:   'i2=np.array([0, 2])' 'c2=np.array([[0], [2]])'

// RUN: fad-runner %s --entry=pack --arg=%t/x.npy --arg=2 --policy=auto --check-gradients | FileCheck %s --check-prefix=PACK
// PACK: out0: tensor<2x4x8x1xf32> min 1 max 1
// PACK: 0 {{ *}}tensor<16x4xf32> {{.*}} ok
// RUN: not fad-runner %s --entry=pack --arg=%t/x.npy --arg=1 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not fad-runner %s --entry=pack --arg=%t/x.npy --arg=1 --policy=fad 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not fad-runner %s --entry=pack --arg=%t/x.npy --arg=3 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not fad-runner %s --entry=pack --arg=%t/x.npy --arg=100 --policy=bp 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: destinations.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: dimension #0 of operand #1 is not the number of tiles of 8 that hold dimension #0 of operand #0
// RUN: not fad-runner %s --entry=pack --arg=%t/odd.npy --arg=2 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: destinations.mlir:[[#@LINE+3]]:8: error: these sizes do not fit together: dimension #0 of operand #0 does not consist of whole tiles of 8, and there is no padding_value
func.func @pack(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4x8x1xf32> {
  %e = tensor.empty(%n) : tensor<?x4x8x1xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 1] into %e : tensor<?x4xf32> -> tensor<?x4x8x1xf32>
  return %r : tensor<?x4x8x1xf32>
}

// The border does not fill other tiles. The dimension that has none has the size of the
// source.
// RUN: fad-runner %s --entry=pad --arg=%t/odd.npy --arg=2 --arg=4 | FileCheck %s --check-prefix=PAD
// PAD: out0: tensor<4x2x8xf32> min 1 max 3
// RUN: not fad-runner %s --entry=pad --arg=%t/odd.npy --arg=3 --arg=4 2>&1 | FileCheck %s --check-prefix=PAD-TILES
// PAD-TILES: destinations.mlir:[[#@LINE+7]]:8: error: these sizes do not fit together: dimension #1 of operand #1 is not the number of tiles of 8 that hold dimension #0 of operand #0
// RUN: not fad-runner %s --entry=pad --arg=%t/odd.npy --arg=2 --arg=3 2>&1 | FileCheck %s --check-prefix=PAD-SIZE
// RUN: not fad-runner %s --entry=pad --arg=%t/odd.npy --arg=2 --arg=5 --policy=fad 2>&1 | FileCheck %s --check-prefix=PAD-SIZE
// PAD-SIZE: destinations.mlir:[[#@LINE+4]]:8: error: these sizes do not fit together: dimension #0 of operand #1 is not dimension #1 of operand #0
func.func @pad(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?x8xf32> {
  %c = arith.constant 3.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?x8xf32>
  %r = linalg.pack %x padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<?x?xf32> -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}

// RUN: fad-runner %s --entry=unpack --arg=%t/p.npy --arg=9 | FileCheck %s --check-prefix=UNPACK
// RUN: fad-runner %s --entry=unpack --arg=%t/p.npy --arg=16 --policy=auto --check-gradients | FileCheck %s --check-prefix=UNPACK
// UNPACK: out0: tensor<{{9|16}}x4xf32> min 1 max 1
// RUN: not fad-runner %s --entry=unpack --arg=%t/p.npy --arg=8 2>&1 | FileCheck %s --check-prefix=UNPACK-TILES
// RUN: not fad-runner %s --entry=unpack --arg=%t/p.npy --arg=8 --policy=fad 2>&1 | FileCheck %s --check-prefix=UNPACK-TILES
// RUN: not fad-runner %s --entry=unpack --arg=%t/p.npy --arg=17 2>&1 | FileCheck %s --check-prefix=UNPACK-TILES
// UNPACK-TILES: destinations.mlir:[[#@LINE+3]]:8: error: these sizes do not fit together: dimension #0 of operand #0 is not the number of tiles of 8 that hold dimension #0 of operand #1
func.func @unpack(%x: tensor<?x4x8x1xf32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 1] into %e : tensor<?x4x8x1xf32> -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A tile whose size is a value, which has to be that of the source.
// RUN: fad-runner %s --entry=unpack_tile --arg=%t/q.npy --arg=8 --size=15 --policy=auto --check-gradients | FileCheck %s --check-prefix=UNPACK-TILE
// UNPACK-TILE: out0: tensor<15xf32> min 0 max 14
// RUN: not fad-runner %s --entry=unpack_tile --arg=%t/q.npy --arg=4 --size=8 2>&1 | FileCheck %s --check-prefix=UNPACK-SIZE
// UNPACK-SIZE: destinations.mlir:[[#@LINE+6]]:8: error: these sizes do not fit together: the tile does not have the size of dimension #1 of operand #0
// RUN: not fad-runner %s --entry=unpack_tile --arg=%t/q.npy --arg=0 --size=8 2>&1 | FileCheck %s --check-prefix=UNPACK-NONE
// UNPACK-NONE: destinations.mlir:[[#@LINE+4]]:8: error: these sizes do not fit together: the tile that is dimension #1 of operand #0 has no element
// RUN: not fad-runner %s --entry=unpack_tile --arg=%t/q.npy --arg=8 --size=8 --policy=fad 2>&1 | FileCheck %s --check-prefix=UNPACK-NUMBER
// UNPACK-NUMBER: destinations.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: dimension #0 of operand #0 is not the number of tiles that hold dimension #0 of operand #1
func.func @unpack_tile(%x: tensor<?x?xf32>, %m: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [%m] into %y : tensor<?x?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Updates of another number, and of another size, than the indices and the sum have.
// RUN: fad-runner %s --entry=scatter_add --arg=%t/m24.npy --arg=%t/m34.npy --arg=%t/i2.npy | FileCheck %s --check-prefix=ADD
// ADD: out0: tensor<3x4xf32> min 1 max 2
// RUN: not fad-runner %s --entry=scatter_add --arg=%t/m34.npy --arg=%t/m34.npy --arg=%t/i2.npy 2>&1 | FileCheck %s --check-prefix=ADD-NUMBER
// RUN: not fad-runner %s --entry=scatter_add --arg=%t/m34.npy --arg=%t/m34.npy --arg=%t/i2.npy --policy=fad 2>&1 | FileCheck %s --check-prefix=ADD-NUMBER
// ADD-NUMBER: destinations.mlir:[[#@LINE+4]]:8: error: these sizes do not fit together: dimension #0 of operand #0 is not dimension #0 of operand #2
// RUN: not fad-runner %s --entry=scatter_add --arg=%t/m24.npy --arg=%t/m35.npy --arg=%t/i2.npy 2>&1 | FileCheck %s --check-prefix=ADD-SIZE
// ADD-SIZE: destinations.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: dimension #1 of operand #0 is not dimension #1 of operand #1
func.func @scatter_add(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: tensor<?xi64>) -> tensor<?x?xf32> {
  %r = fad.scatter_add %x at(%i : tensor<?xi64>) dims [0] into %y : tensor<?x?xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// RUN: fad-runner %s --entry=scatter --arg=%t/m24.npy --arg=%t/m34.npy --arg=%t/c2.npy | FileCheck %s --check-prefix=SCATTER
// SCATTER: out0: tensor<3x4xf32> min 1 max 1
// RUN: not fad-runner %s --entry=scatter --arg=%t/m34.npy --arg=%t/m34.npy --arg=%t/c2.npy 2>&1 | FileCheck %s --check-prefix=SCATTER-NUMBER
// SCATTER-NUMBER: destinations.mlir:[[#@LINE+4]]:8: error: these sizes do not fit together: dimension #0 of operand #0 is not dimension #0 of operand #2
// RUN: not fad-runner %s --entry=scatter --arg=%t/m24.npy --arg=%t/m35.npy --arg=%t/c2.npy 2>&1 | FileCheck %s --check-prefix=SCATTER-SIZE
// SCATTER-SIZE: destinations.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: dimension #1 of operand #0 is not dimension #1 of operand #1
func.func @scatter(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: tensor<?x1xindex>) -> tensor<?x?xf32> {
  %r = tensor.scatter %x into %y[%i] scatter_dims([0]) unique : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// RUN: fad-runner %s --entry=parallel --arg=%t/m24.npy --arg=%t/m35.npy --arg=4 --arg=1 | FileCheck %s --check-prefix=PARALLEL
// PARALLEL: out0: tensor<3x5xf32> min 1 max 1
// RUN: not fad-runner %s --entry=parallel --arg=%t/m34.npy --arg=%t/m24.npy --arg=4 --arg=1 2>&1 | FileCheck %s --check-prefix=PARALLEL-PLACE
// PARALLEL-PLACE: destinations.mlir:[[#@LINE+13]]:7: error: the slice is not inside of the tensor
// RUN: not fad-runner %s --entry=parallel --arg=%t/m24.npy --arg=%t/m35.npy --arg=5 --arg=1 2>&1 | FileCheck %s --check-prefix=PARALLEL-SIZE
// PARALLEL-SIZE: destinations.mlir:[[#@LINE+11]]:7: error: the slice has another size than what is inserted
// RUN: not fad-runner %s --entry=parallel --arg=%t/m24.npy --arg=%t/m35.npy --arg=4 --arg=0 2>&1 | FileCheck %s --check-prefix=PARALLEL-STEP
// PARALLEL-STEP: destinations.mlir:[[#@LINE+5]]:8: error: the step of the loop is not positive
func.func @parallel(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %n: index, %step: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %r = scf.forall (%i) = (0) to (%rows) step (%step) shared_outs(%o = %y) -> tensor<?x?xf32> {
    %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
    %row = tensor.extract_slice %x[%i, 0] [1, %columns] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  return %r : tensor<?x?xf32>
}

// A copy into a destination, of an argument as well.
// RUN: fad-runner %s --entry=materialize --arg=%t/a4.npy --size=4 --policy=auto --check-gradients | FileCheck %s --check-prefix=COPY
// COPY: out0: tensor<4xf32> = [0, 1, 2, 3]
// COPY: ok
// COPY: ok
// RUN: not fad-runner %s --entry=materialize --arg=%t/a4.npy --size=3 2>&1 | FileCheck %s --check-prefix=COPY-SIZE
// RUN: not fad-runner %s --entry=materialize --arg=%t/a4.npy --size=5 --policy=fad 2>&1 | FileCheck %s --check-prefix=COPY-SIZE
// COPY-SIZE: destinations.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: dimension #0 of input/output operand #1 is incompatible with inferred dimension size
func.func @materialize(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = bufferization.materialize_in_destination %x in %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Vectors that lie behind the end, or before the beginning.
// RUN: fad-runner %s --entry=write --arg=%t/a8.npy --arg=7 --arg=4 | FileCheck %s --check-prefix=WRITE
// WRITE: out0: tensor<8xf32> = [0, 1, 2, 3, 7, 7, 7, 7]
// RUN: not fad-runner %s --entry=write --arg=%t/a8.npy --arg=7 --arg=5 2>&1 | FileCheck %s --check-prefix=WRITE-PLACE
// RUN: not fad-runner %s --entry=write --arg=%t/a8.npy --arg=7 --arg=-1 2>&1 | FileCheck %s --check-prefix=WRITE-PLACE
// WRITE-PLACE: destinations.mlir:[[#@LINE+3]]:8: error: these sizes do not fit together: the vector is not inside of dimension #0 of the tensor
func.func @write(%x: tensor<?xf32>, %v: f32, %i: index) -> tensor<?xf32> {
  %s = vector.broadcast %v : f32 to vector<4xf32>
  %r = vector.transfer_write %s, %x[%i] {in_bounds = [true]} : vector<4xf32>, tensor<?xf32>
  return %r : tensor<?xf32>
}

// Lanes that the mask leaves out may be anywhere.
// RUN: fad-runner %s --entry=gather --arg=%t/a8.npy --arg=5 | FileCheck %s --check-prefix=LANES
// LANES: out0: tensor<f32> = 18
// RUN: not fad-runner %s --entry=gather --arg=%t/a8.npy --arg=6 2>&1 | FileCheck %s --check-prefix=LANES-PLACE
// RUN: not fad-runner %s --entry=gather --arg=%t/a8.npy --arg=-1 2>&1 | FileCheck %s --check-prefix=LANES-PLACE
// LANES-PLACE: destinations.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: the vector is not inside of the tensor
func.func @gather(%x: tensor<?xf32>, %i: index) -> f32 {
  %places = arith.constant dense<[0, 1, 2, 99]> : vector<4xi64>
  %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %none = arith.constant dense<0.0> : vector<4xf32>
  %v = vector.gather %x[%i] [%places], %mask, %none : tensor<?xf32>, vector<4xi64>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}

// RUN: fad-runner %s --entry=gather_one --arg=3 --arg=0 | FileCheck %s --check-prefix=ONE
// ONE: out0: tensor<f32> = 12
// RUN: not fad-runner %s --entry=gather_one --arg=3 --arg=1 2>&1 | FileCheck %s --check-prefix=ONE-PLACE
// ONE-PLACE: destinations.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: the vector is not inside of the tensor
func.func @gather_one(%x: tensor<f32>, %i: index) -> f32 {
  %places = vector.broadcast %i : index to vector<4xindex>
  %mask = arith.constant dense<true> : vector<4xi1>
  %none = arith.constant dense<0.0> : vector<4xf32>
  %v = vector.gather %x[] [%places], %mask, %none : tensor<f32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}

// Places in a tensor of several dimensions are those of all of its elements, as upstream's
// vectorization has them.
// RUN: fad-runner %s --entry=gather_all --arg=1 --arg=8 | FileCheck %s --check-prefix=ALL
// ALL: out0: tensor<f32> = 4
// RUN: not fad-runner %s --entry=gather_all --arg=1 --arg=9 2>&1 | FileCheck %s --check-prefix=ALL-PLACE
// ALL-PLACE: destinations.mlir:[[#@LINE+8]]:8: error: these sizes do not fit together: the vector is not inside of the tensor
func.func @gather_all(%x: tensor<3x4xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %lanes = vector.step : vector<4xindex>
  %start = vector.broadcast %i : index to vector<4xindex>
  %places = arith.addi %lanes, %start : vector<4xindex>
  %mask = arith.constant dense<true> : vector<4xi1>
  %none = arith.constant dense<0.0> : vector<4xf32>
  %v = vector.gather %x[%c0, %c0] [%places], %mask, %none : tensor<3x4xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}

// A transfer of no lane is inside of everything.
// RUN: fad-runner %s --entry=masked --arg=1 --arg=3 --arg=0 | FileCheck %s --check-prefix=MASKED
// MASKED: out0: tensor<f32> = 28
// RUN: not fad-runner %s --entry=masked --arg=1 --arg=3 --arg=1 2>&1 | FileCheck %s --check-prefix=MASKED-PLACE
// MASKED-PLACE: destinations.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: the vector is not inside of dimension #0 of the tensor
func.func @masked(%x: tensor<3x4xf32>, %i: index, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7.0 : f32
  %mask = vector.create_mask %n : vector<4xi1>
  %v = vector.transfer_read %x[%i, %c0], %seven, %mask {in_bounds = [true]} : tensor<3x4xf32>, vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}

// The size of a tile has to be known.
// RUN: not fad-runner %s --entry=tile --size=4 --arg=1 --arg=2 --arg=2 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: destinations.mlir:[[#@LINE+5]]:8: error: 'linalg.pack' op was not bufferized, because it has no form on buffers with tile #0, whose size is a value; write the size as a number in 'inner_tiles'
// RUN: not fad-runner %s --entry=tile --size=4 --arg=1 --arg=2 --arg=2 --policy=fad 2>&1 | FileCheck %s --check-prefix=TILE-RULE
// TILE-RULE: destinations.mlir:[[#@LINE+3]]:8: error: 'linalg.pack' op has no reverse rule for tile #0, whose size is a value; write the size as a number in 'inner_tiles'
func.func @tile(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?x?x2xf32> {
  %e = tensor.empty(%n, %n, %m) : tensor<?x?x?x2xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [%m, 2] into %e : tensor<?x?xf32> -> tensor<?x?x?x2xf32>
  return %r : tensor<?x?x?x2xf32>
}
