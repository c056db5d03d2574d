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
