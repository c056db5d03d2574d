//===- ElementwiseKernel.h - Computation of a kernel ------------*- C++ -*-===//
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
/// the results; a repeated buffer, whose element for place `i` of the results
/// is at `(i / inner) % extent`; or a buffer that the body reads at places that
/// it computes.
struct KernelInput {
  enum class Kind { Scalar, Elements, Repeated, Gathered };
  Kind kind = Kind::Scalar;
  /// The type of the scalar or of the buffer in the body.
  Type type;
  /// The argument of the body, or the value that it captures.
  Value inBody;
  /// The period of a repeated buffer; may be dynamic.
  int64_t inner = 1;
  int64_t extent = 1;

  bool isBuffer() const { return kind != Kind::Scalar; }
  /// Whether it is repeated with one element for each lane; otherwise lanes
  /// share one element.
  bool isRow() const {
    return kind == Kind::Repeated && inner == 1 && extent != 1;
  }
};

/// The elementwise computation of a kernel: `body` computes one element of each
/// output from one element, or scalar, of each input.
struct ElementwiseKernel {
  Operation *op;
  Block *body;
  SmallVector<KernelInput> inputs;
  /// Element types of the results in the body.
  SmallVector<Type> outputs;
  /// Sizes of the loops. If the body uses its position, all but the first are
  /// static.
  SmallVector<int64_t> sizes;
  bool asksForPlace = false;
  /// The number of neighboring elements of each input that make up one element
  /// of each output: the body combines them in order with the element of the
  /// output.
  int64_t groupSize = 1;
};

/// The type of an element in memory: i1 takes a byte.
Type getStorageType(Type element);
int64_t getStorageBytes(Type element);
/// Converts `element` from its storage type to `type`, its type in the body.
Value fromStorage(ImplicitLocOpBuilder &b, Value element, Type type);

/// Whether a kernel can take `type` as an argument or as an element in memory.
bool isKernelElement(Type type);
/// Whether `op` has a buffer outside of the host's memory.
bool isElsewhere(Operation *op);
/// Whether kernels support the types of `op`.
bool isKernelOperation(Operation &op);

/// The kernel that computes `op`. Fails, with an error, for a type that kernels
/// do not support.
FailureOr<ElementwiseKernel> describeKernel(ElementwiseOp op);

/// The same for a loop over elements; null for other loops and for types that
/// kernels do not support.
std::optional<ElementwiseKernel> describeKernel(linalg::GenericOp op);

/// The buffers that a variant of a kernel supports.
enum class KernelVariant {
  /// Aligned to 16 bytes, and no output overlaps an input.
  Vectors,
  /// Aligned to 16 bytes; an output may be an input.
  InPlace,
  /// Aligned to elements; an output may be an input.
  Unaligned
};

/// The suffix of the names of a variant.
StringRef getSuffix(KernelVariant variant);

/// The largest number of elements of one launch, so that offsets up to the end
/// of the last tile have 31 bits.
constexpr int64_t kLargestLaunch = int64_t(1) << 30;

/// The type of the argument for a buffer of `element`.
MemRefType getBufferType(Type element);

/// Builds a variant of `kernel` under `name` at `builder`'s insertion point.
/// Its arguments are the inputs, the outputs, the number of elements, and the
/// dynamic `inner` and `extent` of repeated inputs, of i32.
gpu::GPUFuncOp buildKernel(OpBuilder &builder, const ElementwiseKernel &kernel,
                           const Tile &tile, KernelVariant variant,
                           StringRef name);

/// Replaces `op`, on buffers, by launches of `kernel`, each of up to
/// `largestLaunch` elements.
void launchElementwise(OpBuilder &builder, linalg::GenericOp op,
                       const ElementwiseKernel &kernel, int64_t largestLaunch);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ELEMENTWISEKERNEL_H
