//===- HostBuffers.cpp - Buffers of kernels on the host -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBuffers.h"
#include "ElementwiseKernel.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::fad;

Value HostBuffers::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value HostBuffers::getBytes(Value count, Type element) {
  return arith::MulIOp::create(b, count, constant(getStorageBytes(element)));
}

/// Whether `memref` is in the memory of the program, or on its stack.
static bool isOnHostOnly(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return isa_and_nonnull<memref::GetGlobalOp, memref::AllocaOp>(
      memref.getDefiningOp());
}

HostBuffer HostBuffers::prepare(Value memref, bool isOutput) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getLayout().isIdentity() && !isOnHostOnly(memref))
    return flatten(memref);
  SmallVector<Value> dynamicSizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamicSizes.push_back(memref::DimOp::create(b, memref, constant(dim)));
  auto contiguous = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, contiguous, dynamicSizes);
  temporaries.push_back(copy);
  memref::CopyOp::create(b, memref, copy);
  if (isOutput)
    copies.push_back({copy, memref});
  return flatten(copy);
}

HostBuffer HostBuffers::allocate(Type element, Value count) {
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  temporaries.push_back(memref::AllocOp::create(b, type, ValueRange{count}));
  return flatten(temporaries.back());
}

HostBuffer HostBuffers::flatten(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Type element = type.getElementType();
  if (type.getRank() == 0) {
    memref =
        memref::ExpandShapeOp::create(b, MemRefType::get({1}, element), memref,
                                      ArrayRef<ReassociationIndices>{});
  } else if (type.getRank() > 1) {
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all.front(), llvm::seq<int64_t>(type.getRank()));
    memref = memref::CollapseShapeOp::create(b, memref, all);
  }
  auto flat = MemRefType::get({ShapedType::kDynamic}, element);
  if (memref.getType() != flat)
    memref = memref::CastOp::create(b, flat, memref);
  // Descriptors of one rank are the same for all element types.
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  if (flat != bytes)
    memref = UnrealizedConversionCastOp::create(b, bytes, memref).getResult(0);
  return {memref, element};
}

Value HostBuffers::getAddress(const HostBuffer &buffer, Value start) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, buffer.bytes);
  return arith::AddIOp::create(b, address, getBytes(start, buffer.element));
}

Value HostBuffers::getArgument(const HostBuffer &buffer, Value start) {
  return memref::ViewOp::create(b, getBufferType(buffer.element), buffer.bytes,
                                getBytes(start, buffer.element), ValueRange());
}

void HostBuffers::launch(Operation *op, StringRef suffix, Value blocks,
                         ArrayRef<Value> arguments) {
  auto kernel = op->getAttrOfType<SymbolRefAttr>(FadDialect::kKernelAttr);
  std::string name = (kernel.getLeafReference().strref() + suffix).str();
  auto symbol = SymbolRefAttr::get(
      kernel.getRootReference(), FlatSymbolRefAttr::get(b.getContext(), name));
  auto blockSize = op->getAttrOfType<IntegerAttr>(FadDialect::kBlockSizeAttr);
  Value threads = constant(blockSize.getInt()), one = constant(1);
  gpu::LaunchFuncOp::create(b, symbol, gpu::KernelDim3{blocks, one, one},
                            gpu::KernelDim3{threads, one, one},
                            /*dynamicSharedMemorySize=*/Value(), arguments);
}

void HostBuffers::finish() {
  for (auto [temporary, output] : copies)
    memref::CopyOp::create(b, temporary, output);
  for (Value temporary : temporaries)
    memref::DeallocOp::create(b, temporary);
}
