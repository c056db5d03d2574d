//===- ElementwiseKernel.h - What a kernel computes -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_ELEMENTWISEKERNEL_H
#define FAD_LIB_CODEGEN_GPU_ELEMENTWISEKERNEL_H

#include "TileTable.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fad {

class ElementwiseOp;

/// An input of a kernel: a scalar; a buffer with an element for each element of
/// the results; one that is repeated: the element at place `i` of the results
/// is the one at `(i / inner) % extent`; or one that the body itself reads, at
/// places that it computes.
struct KernelInput {
  enum class Kind { Scalar, Elements, Repeated, Gathered };
  Kind kind = Kind::Scalar;
  /// Of the scalar or of the buffer, as the body has it.
  Type type;
  /// The argument of the body, or the value that it uses from outside.
  Value inBody;
  /// Of a repeated buffer; may be dynamic.
  int64_t inner = 1;
  int64_t extent = 1;

  bool isBuffer() const { return kind != Kind::Scalar; }
  /// Whether it is repeated, and lanes have one element each: otherwise they
  /// share one.
  bool isRow() const {
    return kind == Kind::Repeated && inner == 1 && extent != 1;
  }
};

/// An elementwise operation as a kernel has it: `body` computes one element of
/// each output from one element, or scalar, of each input.
struct ElementwiseKernel {
  Operation *op;
  Block *body;
  SmallVector<KernelInput> inputs;
  /// Element types of the results, as the body has them.
  SmallVector<Type> outputs;
  /// Sizes of the loops, of which all but the first are static where the body
  /// asks for a place.
  SmallVector<int64_t> sizes;
  bool asksForPlace = false;
  /// How many neighbouring elements of each input make up one of each output:
  /// the body combines one after the other with what the output holds.
  int64_t groupSize = 1;
};

/// The type of an element in memory: i1 takes a byte.
Type getStorageType(Type element);
int64_t getStorageBytes(Type element);
/// `element` as it is in memory, as a body has it, in `type`.
Value fromStorage(ImplicitLocOpBuilder &b, Value element, Type type);

/// Whether a kernel can take `type` as an argument or as an element in memory.
bool isKernelElement(Type type);
/// Whether `op` has a buffer in a memory that is none of the host's.
bool isElsewhere(Operation *op);
/// Whether kernels have the types that `op` computes.
bool isKernelOperation(Operation &op);

/// How `op` is computed by a kernel. Fails with an error where a type is none
/// that kernels have.
FailureOr<ElementwiseKernel> describeKernel(ElementwiseOp op);

/// The same for a loop over elements; null where it is no such loop, or has
/// types that kernels do not have.
std::optional<ElementwiseKernel> describeKernel(linalg::GenericOp op);

/// Which buffers a variant of a kernel is for.
enum class KernelVariant {
  /// Aligned to 16 bytes, and no output overlaps an input.
  Vectors,
  /// Aligned to 16 bytes; an output may be an input.
  InPlace,
  /// Aligned to elements; an output may be an input.
  Unaligned
};

/// What the names of variants end with.
StringRef getSuffix(KernelVariant variant);

/// The largest number of elements that one launch computes, so that offsets up
/// to the end of the last tile have 31 bits.
constexpr int64_t kLargestLaunch = int64_t(1) << 30;

/// The type of the argument for a buffer of `element`.
MemRefType getBufferType(Type element);

/// Builds a variant of `kernel` under `name` at `builder`'s insertion point.
/// Its arguments are the inputs, the outputs, the number of elements, and
/// `inner` and `extent` of repeated inputs as far as they are dynamic, of i32.
gpu::GPUFuncOp buildKernel(OpBuilder &builder, const ElementwiseKernel &kernel,
                           const Tile &tile, KernelVariant variant,
                           StringRef name);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ELEMENTWISEKERNEL_H
