//===- ElementwiseKernel.cpp - Computation of a kernel --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type fad::getStorageType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

int64_t fad::getStorageBytes(Type element) {
  Type storage = getStorageType(element);
  return storage.isIndex() ? 8 : storage.getIntOrFloatBitWidth() / 8;
}

Value fad::fromStorage(ImplicitLocOpBuilder &b, Value element, Type type) {
  if (element.getType() == type)
    return element;
  Value zero = arith::ConstantIntOp::create(b, element.getType(), 0);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, element, zero);
}

MemRefType fad::getBufferType(Type element) {
  // Bare pointers call for static shapes. No launch reaches beyond this one.
  return MemRefType::get({kLargestLaunch}, getStorageType(element));
}

/// Whether a kernel can compute with `type`.
static bool isKernelScalar(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
      type);
}

bool fad::isKernelElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isKernelScalar(type);
}

/// Fails, with the reason, if a type in `op` is unknown to kernels.
static LogicalResult checkTypes(ElementwiseOp op) {
  auto check = [&](Type type, const Twine &what) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getEncoding())
      return op.emitOpError("cannot become a GPU kernel: ")
             << what << " has the encoding " << tensor.getEncoding()
             << "; kernels read and write contiguous buffers";
    Type element = tensor ? tensor.getElementType() : type;
    if (!isKernelElement(element))
      return op.emitOpError("cannot become a GPU kernel: ")
             << what << " is of type " << element
             << "; convert it to f16, bf16, f32, f64, i1, i8, i16, i32, i64 "
                "or index first";
    return success();
  };
  for (auto [index, type] : llvm::enumerate(op.getInputs().getTypes()))
    if (failed(check(type, "operand " + Twine(index))))
      return failure();
  for (auto [index, type] : llvm::enumerate(op.getOutputs().getTypes()))
    if (failed(check(type, "result " + Twine(index))))
      return failure();
  WalkResult walk = op.getBody().walk([](Operation *inner) {
    for (Type type : inner->getResultTypes())
      if (!isKernelScalar(type)) {
        inner->emitOpError("cannot be part of a GPU kernel: it has a result of "
                           "type ")
            << type
            << "; kernels compute with f16, bf16, f32, f64, index and integers "
               "of up to 64 bits";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// fad.elementwise
//===----------------------------------------------------------------------===//

FailureOr<ElementwiseKernel> fad::describeKernel(ElementwiseOp op) {
  if (failed(checkTypes(op)))
    return failure();
  ElementwiseKernel kernel{op, op.getBodyBlock(), {}, {}, {}};
  for (auto [index, type] : llvm::enumerate(op.getInputs().getTypes())) {
    KernelInput input;
    if (isa<RankedTensorType>(type))
      input.kind = KernelInput::Kind::Elements;
    input.type = getElementTypeOrSelf(type);
    input.inBody = op.getBodyArgument(index);
    kernel.inputs.push_back(input);
  }
  for (Type type : op.getOutputs().getTypes())
    kernel.outputs.push_back(getElementTypeOrSelf(type));
  return kernel;
}

//===----------------------------------------------------------------------===//
// linalg.generic
//===----------------------------------------------------------------------===//

/// The product of `sizes`, dynamic if one of them is.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    product *= size;
  }
  return product;
}

/// The kind of an input that `map` reads, where the loops have `sizes`. Fails
/// unless neighboring dimensions are read in order.
static LogicalResult describeMap(AffineMap map, ArrayRef<int64_t> sizes,
                                 KernelInput &input) {
  SmallVector<unsigned> dims;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || (!dims.empty() && dim.getPosition() != dims.back() + 1))
      return failure();
    dims.push_back(dim.getPosition());
  }
  if (map.isIdentity()) {
    input.kind = KernelInput::Kind::Elements;
    return success();
  }
  input.kind = KernelInput::Kind::Repeated;
  if (dims.empty())
    return success();
  input.extent = multiply(sizes.slice(dims.front(), dims.size()));
  input.inner = multiply(sizes.drop_front(dims.back() + 1));
  return success();
}

/// Whether fad-to-nvvm lowers `op`, of those that fad-to-cpu does.
static bool hasLowering(Operation &op) {
  if (auto power = dyn_cast<math::FPowIOp>(op))
    return getElementTypeOrSelf(power.getRhs()).isSignlessInteger() &&
           getElementTypeOrSelf(power.getRhs()).getIntOrFloatBitWidth() <= 32;
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect, FadDialect>(
             op.getDialect()) &&
         !isa<math::IPowIOp, math::IsNormalOp>(op);
}

bool fad::isElsewhere(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && memref.getMemorySpace();
  });
}

bool fad::isKernelOperation(Operation &op) {
  return op.getNumRegions() == 0 && isPure(&op) &&
         (hasLowering(op) || op.hasTrait<OpTrait::ConstantLike>()) &&
         llvm::all_of(op.getResultTypes(), isKernelScalar);
}

/// Whether `op` reads a buffer that is no operand of the loop.
static bool isGather(Operation &op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && load.getMemRefType().getRank() == 1 &&
         load.getMemRefType().getLayout().isIdentity() &&
         isKernelElement(load.getType()) && !load.getType().isInteger(1) &&
         load.getMemRef().getParentBlock() != op.getBlock();
}

/// Whether kernels have every operation of the body, and its places, if it asks
/// for any, take no more than the number of an element to find.
static bool hasKernelBody(ElementwiseKernel &kernel) {
  for (Operation &op : kernel.body->without_terminator()) {
    // The last dimension of a loop over groups is no place.
    if (auto place = dyn_cast<linalg::IndexOp>(op))
      kernel.asksForPlace |= place.getDim() < kernel.sizes.size();
    else if (!isKernelOperation(op) && !isGather(op))
      return false;
  }
  return !kernel.asksForPlace ||
         !ShapedType::isDynamicShape(ArrayRef(kernel.sizes).drop_front());
}

/// The number of elements that `op` combines to one: the last dimension, if
/// that is its only reduction, and few. 0 otherwise.
static int64_t getGroupSize(linalg::GenericOp op) {
  unsigned rank = op.getNumLoops(), parallel = op.getNumParallelLoops();
  if (parallel == rank)
    return 1;
  constexpr int64_t kLargestGroup = 8;
  int64_t size = op.getStaticLoopRanges().back();
  bool isGroup =
      parallel != 0 && parallel + 1 == rank &&
      op.getIteratorTypesArray().back() == utils::IteratorType::reduction;
  return isGroup && size > 1 && size <= kLargestGroup ? size : 0;
}

std::optional<ElementwiseKernel> fad::describeKernel(linalg::GenericOp op) {
  unsigned rank = op.getNumLoops();
  int64_t groupSize = getGroupSize(op);
  if (groupSize == 0 || op.getOutputs().empty() || isElsewhere(op))
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto outputMap = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
  if (groupSize != 1) {
    sizes.pop_back();
    outputMap = outputMap.getMajorSubMap(rank - 1);
  }
  ElementwiseKernel kernel{op, op.getBody(), {}, {}, sizes};
  kernel.groupSize = groupSize;
  if (!hasKernelBody(kernel))
    return std::nullopt;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    KernelInput input;
    input.type = getElementTypeOrSelf(operand->get());
    input.inBody = op.getMatchingBlockArgument(operand);
    AffineMap map = op.getMatchingIndexingMap(operand);
    bool isTensor = isa<ShapedType>(operand->get().getType());
    if (!isKernelElement(input.type) ||
        (isTensor && groupSize != 1 && !map.isIdentity()) ||
        (isTensor && failed(describeMap(map, sizes, input))))
      return std::nullopt;
    kernel.inputs.push_back(input);
  }
  for (OpOperand &operand : op.getDpsInitsMutable()) {
    Type type = getElementTypeOrSelf(operand.get());
    if (!isKernelElement(type) ||
        op.getMatchingIndexingMap(&operand) != outputMap ||
        (groupSize == 1 && !op.getMatchingBlockArgument(&operand).use_empty()))
      return std::nullopt;
    kernel.outputs.push_back(type);
  }
  // Constants are cloned; other values from outside are scalars.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegion(), captured);
  auto isGathered = [&](Value buffer) {
    return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
      return user->getBlock() != op.getBody() || isGather(*user);
    });
  };
  for (Value value : captured) {
    if (matchPattern(value, m_Constant()))
      continue;
    KernelInput input;
    input.type = getElementTypeOrSelf(value.getType());
    input.inBody = value;
    if (isa<MemRefType>(value.getType()) && isGathered(value))
      input.kind = KernelInput::Kind::Gathered;
    else if (!isKernelElement(value.getType()))
      return std::nullopt;
    kernel.inputs.push_back(input);
  }
  return kernel;
}
