// RUN: fad-opt %s --fad-check-bufferization --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-to-cpu --split-input-file --verify-diagnostics

func.func @rule(%x: tensor<2x?x?x5xf32>, %y: tensor<6x6x?x?x2x5xf32>) -> tensor<6x6x?x?x2x5xf32> {
  // expected-error @below {{'linalg.winograd_input_transform' op was not bufferized, because it has no form on buffers; rewrite it in terms of operations of linalg, scf and tensor that have one}}
  %r = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x?x?x5xf32>) outs(%y : tensor<6x6x?x?x2x5xf32>) -> tensor<6x6x?x?x2x5xf32>
  return %r : tensor<6x6x?x?x2x5xf32>
}

// -----

func.func @tile(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?x2x?xf32> {
  %e = tensor.empty(%n, %n, %m) : tensor<?x?x2x?xf32>
  // expected-error @below {{'linalg.pack' op was not bufferized, because it has no form on buffers with tile #1, whose size is a value; write the size as a number in 'inner_tiles'}}
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, %m] into %e : tensor<?x?xf32> -> tensor<?x?x2x?xf32>
  return %p : tensor<?x?x2x?xf32>
}

// -----

func.func @row(%x: tensor<2x4xf32>, %v: vector<4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'vector.transfer_write' op was not bufferized, because upstream takes it for a write of the whole tensor; give the vector as many dimensions as the tensor has}}
  %r = vector.transfer_write %v, %x[%c0, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// Other rows, more of them and tensors without elements to keep are accepted.
func.func @accepted(%x: tensor<2x4xf32>, %y: tensor<8x4xf32>, %v: vector<4xf32>)
    -> (tensor<2x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = vector.transfer_write %v, %x[%c1, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<2x4xf32>
  %1 = vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<8x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %2 = vector.transfer_write %v, %e[%c0, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>
}
