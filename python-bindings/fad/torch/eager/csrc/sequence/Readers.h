//===- Readers.h - Operators whose saved tensors are computed again -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TORCH_EAGER_SEQUENCE_READERS_H
#define FAD_TORCH_EAGER_SEQUENCE_READERS_H

/// Each operator of ATen that a recomputed value may be saved for, the type of
/// its node, and the saved arguments: the position, the member of the node, and
/// the position of the argument whose gradient needs it.
#define FAD_READERS(READER, SAVED)                                             \
  READER("addmm", AddmmBackward0, SAVED(1, mat1_, 2) SAVED(2, mat2_, 1))       \
  READER("mm", MmBackward0, SAVED(0, self_, 1) SAVED(1, mat2_, 0))             \
  READER("bmm", BmmBackward0, SAVED(0, self_, 1) SAVED(1, mat2_, 0))           \
  READER("baddbmm", BaddbmmBackward0,                                          \
         SAVED(1, batch1_, 2) SAVED(2, batch2_, 1))                            \
  READER("linear", LinearBackward0, SAVED(0, input_, 1))                       \
  READER("convolution", ConvolutionBackward0, SAVED(0, input_, 1))             \
  READER("native_layer_norm", NativeLayerNormBackward0, SAVED(0, input_, 0))

#endif // FAD_TORCH_EAGER_SEQUENCE_READERS_H
