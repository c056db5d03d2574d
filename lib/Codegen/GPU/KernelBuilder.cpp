//===- KernelBuilder.cpp - One variant of a kernel ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

StringRef fad::getSuffix(KernelVariant variant) {
  switch (variant) {
  case KernelVariant::Vectors:
    return "";
  case KernelVariant::InPlace:
    return "_inplace";
  case KernelVariant::Unaligned:
    return "_unaligned";
  }
  llvm_unreachable("there is no other variant");
}

namespace {
/// Builds one variant. Offsets and the number of elements are of i32, so that
/// one instruction adds an offset to a pointer.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, const ElementwiseKernel &kernel, Tile tile,
                KernelVariant variant)
      : b(kernel.op->getLoc(), builder), kernel(kernel), tile(tile),
        variant(variant) {}

  gpu::GPUFuncOp build(StringRef name);

private:
  gpu::GPUFuncOp buildSignature(StringRef name);
  void recordArguments(ArrayRef<BlockArgument> rest);
  void cloneConstants();
  void buildFullTile(Value base, Value thread);
  void buildElements(Value from, Value to);
  using Group = SmallVector<Value>;
  SmallVector<Value> loadVector(unsigned input, Value offset);
  Value loadElement(unsigned input, Value offset);
  Group loadGroup(unsigned input, Value offset);
  Value findRepeated(unsigned input, Value offset);
  Value computePlace(linalg::IndexOp op, Value offset);
  SmallVector<Value> computeElement(ArrayRef<Group> groups, Value offset);
  void computeStep(IRMapping &mapping, Value offset, int64_t step);

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  }
  // Offsets stay below 2^31, so none of these overflows.
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(b, lhs, rhs, kNoWrap);
  }
  Value mul(Value lhs, int64_t rhs) {
    return arith::MulIOp::create(b, lhs, constant(rhs), kNoWrap);
  }
  /// The index of the element at `offset` in a buffer.
  Value toIndex(Value offset) {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), offset);
  }
  Value toOffset(Value index) {
    return arith::IndexCastUIOp::create(b, b.getI32Type(), index);
  }
  /// The alignment of a vector of a buffer's elements.
  llvm::MaybeAlign getAlignment(Value buffer) {
    return llvm::MaybeAlign(
        tile.lanes * getStorageBytes(getElementTypeOrSelf(buffer.getType())));
  }
  static constexpr arith::IntegerOverflowFlags kNoWrap =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

  ImplicitLocOpBuilder b;
  const ElementwiseKernel &kernel;
  Tile tile;
  KernelVariant variant;
  /// The kernel's arguments for the inputs and the outputs.
  SmallVector<Value> inputs, outputs;
  /// Arguments or constants for the sizes of repeated inputs.
  SmallVector<Value> inner, extent;
  Value count;
  /// Values that are the same for every element: scalars and constants.
  IRMapping uniform;
};
} // namespace

gpu::GPUFuncOp KernelBuilder::build(StringRef name) {
  gpu::GPUFuncOp func = buildSignature(name);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&func.front());
  cloneConstants();
  Value block = toOffset(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value thread = toOffset(gpu::ThreadIdOp::create(
      b, gpu::Dimension::x, b.getIndexAttr(tile.threads)));
  Value base = mul(block, tile.getSize());
  if (variant == KernelVariant::Unaligned) {
    Value end = add(base, constant(tile.getSize()));
    // Compilers order arguments that are calls as they like.
    Value last = arith::MinUIOp::create(b, end, count);
    buildElements(add(base, thread), last);
    gpu::ReturnOp::create(b);
    return func;
  }
  // The difference may wrap for blocks behind the last one, which compute
  // nothing.
  Value rest = arith::SubIOp::create(b, count, base);
  Value full = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rest,
                                     constant(tile.getSize()));
  auto branch = scf::IfOp::create(b, full, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  buildFullTile(base, thread);
  b.setInsertionPointToStart(branch.elseBlock());
  buildElements(add(base, thread), count);
  b.setInsertionPointAfter(branch);
  gpu::ReturnOp::create(b);
  return func;
}

/// Creates the function, with the constants for sizes.
gpu::GPUFuncOp KernelBuilder::buildSignature(StringRef name) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  auto addBuffer = [&](Type element, StringRef access) {
    types.push_back(getBufferType(element));
    bool isAligned = variant != KernelVariant::Unaligned;
    NamedAttrList list;
    list.set(LLVM::LLVMDialect::getAlignAttrName(),
             b.getI64IntegerAttr(isAligned ? kAccessBytes
                                           : getStorageBytes(element)));
    if (!access.empty())
      list.set(access, b.getUnitAttr());
    if (variant == KernelVariant::Vectors)
      list.set(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    attrs.push_back(list.getDictionary(b.getContext()));
  };
  for (const KernelInput &input : kernel.inputs) {
    if (input.isBuffer()) {
      addBuffer(input.type, LLVM::LLVMDialect::getReadonlyAttrName());
      continue;
    }
    types.push_back(input.type);
    attrs.push_back(b.getDictionaryAttr({}));
  }
  // Groups are combined with the elements of the outputs.
  for (Type type : kernel.outputs)
    addBuffer(type, kernel.groupSize == 1
                        ? LLVM::LLVMDialect::getWriteOnlyAttrName()
                        : StringRef());
  auto addSize = [&] {
    types.push_back(b.getI32Type());
    attrs.push_back(b.getDictionaryAttr({}));
  };
  addSize();
  for (const KernelInput &input : kernel.inputs)
    for (int64_t size : {input.inner, input.extent})
      if (ShapedType::isDynamic(size))
        addSize();

  auto func = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(tile.threads), 1, 1}));
  if (tile.blocks)
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(static_cast<int32_t>(tile.blocks)));
  func.setAllArgAttrs(attrs);

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.front());
  recordArguments(func.getArguments());
  return func;
}

void KernelBuilder::recordArguments(ArrayRef<BlockArgument> rest) {
  auto take = [&] {
    Value argument = rest.front();
    rest = rest.drop_front();
    return argument;
  };
  for (const KernelInput &input : kernel.inputs) {
    inputs.push_back(take());
    if (!input.isBuffer() || input.kind == KernelInput::Kind::Gathered)
      uniform.map(input.inBody, inputs.back());
  }
  for (size_t i = 0, e = kernel.outputs.size(); i < e; ++i)
    outputs.push_back(take());
  count = take();
  for (const KernelInput &input : kernel.inputs) {
    auto getSize = [&](int64_t size) {
      return ShapedType::isDynamic(size) ? take() : constant(size);
    };
    inner.push_back(getSize(input.inner));
    extent.push_back(getSize(input.extent));
  }
}

/// Constants, of the body and from outside of it, are the same for all lanes.
void KernelBuilder::cloneConstants() {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*kernel.body->getParent(), captured);
  for (Value value : captured)
    if (Operation *op = value.getDefiningOp())
      if (op->hasTrait<OpTrait::ConstantLike>())
        b.clone(*op, uniform);
  for (Operation &op : kernel.body->without_terminator())
    if (op.hasTrait<OpTrait::ConstantLike>())
      b.clone(op, uniform);
}

/// All loads come first, so that they are under way together.
void KernelBuilder::buildFullTile(Value base, Value thread) {
  Value first = add(base, mul(thread, tile.lanes));
  SmallVector<Value> offsets;
  SmallVector<SmallVector<SmallVector<Value>>> loaded;
  for (int64_t access = 0; access < tile.accesses; ++access) {
    offsets.push_back(access ? add(first, constant(access * tile.getStride()))
                             : first);
    SmallVector<SmallVector<Value>> &vectors = loaded.emplace_back();
    for (unsigned input = 0; input < inputs.size(); ++input)
      vectors.push_back(loadVector(input, offsets.back()));
  }
  for (auto [offset, vectors] : llvm::zip_equal(offsets, loaded)) {
    SmallVector<SmallVector<Value>> computed(outputs.size());
    for (int64_t lane = 0; lane < tile.lanes; ++lane) {
      SmallVector<Group> groups;
      for (ArrayRef<Value> vector : vectors)
        groups.emplace_back(
            vector.empty()
                ? vector
                : vector.slice(lane * kernel.groupSize, kernel.groupSize));
      Value place = lane ? add(offset, constant(lane)) : offset;
      for (auto [index, value] : llvm::enumerate(computeElement(groups, place)))
        computed[index].push_back(value);
    }
    for (auto [output, elements] : llvm::zip_equal(outputs, computed)) {
      auto type = VectorType::get({tile.lanes}, elements.front().getType());
      Value vector = vector::FromElementsOp::create(b, type, elements);
      vector::StoreOp::create(b, vector, output, ValueRange{toIndex(offset)},
                              /*nontemporal=*/false, getAlignment(output));
    }
  }
}

/// Whether an element of `input` is loaded for each element of the results.
static bool isLoaded(const KernelInput &input) {
  return input.kind == KernelInput::Kind::Elements ||
         input.kind == KernelInput::Kind::Repeated;
}

/// The lanes of `input` for the elements from `offset` on; none for a scalar.
/// Lanes do not cross the end of a repeated element or row: the host selects
/// another variant otherwise.
SmallVector<Value> KernelBuilder::loadVector(unsigned input, Value offset) {
  const KernelInput &what = kernel.inputs[input];
  if (!isLoaded(what))
    return {};
  if (what.kind == KernelInput::Kind::Repeated && !what.isRow())
    return SmallVector<Value>(tile.lanes, loadElement(input, offset));
  Value place = what.isRow() ? findRepeated(input, offset) : offset;
  if (kernel.groupSize != 1)
    place = mul(place, kernel.groupSize);
  Value buffer = inputs[input];
  auto type = VectorType::get({tile.lanes * kernel.groupSize},
                              getElementTypeOrSelf(buffer.getType()));
  Value vector =
      vector::LoadOp::create(b, type, buffer, toIndex(place),
                             /*nontemporal=*/false, getAlignment(buffer));
  return llvm::to_vector_of<Value>(
      vector::ToElementsOp::create(b, vector).getElements());
}

/// The element of `input` at `offset`; null for a scalar.
Value KernelBuilder::loadElement(unsigned input, Value offset) {
  const KernelInput &what = kernel.inputs[input];
  if (!isLoaded(what))
    return {};
  if (what.kind == KernelInput::Kind::Repeated)
    offset = findRepeated(input, offset);
  return memref::LoadOp::create(b, inputs[input], toIndex(offset));
}

/// The elements of `input` that make up the one at `offset`; none for a scalar.
KernelBuilder::Group KernelBuilder::loadGroup(unsigned input, Value offset) {
  Group group;
  if (!isLoaded(kernel.inputs[input]))
    return group;
  if (kernel.groupSize != 1)
    offset = mul(offset, kernel.groupSize);
  for (int64_t step = 0; step < kernel.groupSize; ++step)
    group.push_back(
        loadElement(input, step ? add(offset, constant(step)) : offset));
  return group;
}

/// (offset / inner) % extent.
Value KernelBuilder::findRepeated(unsigned input, Value offset) {
  const KernelInput &what = kernel.inputs[input];
  if (what.extent == 1)
    return constant(0);
  if (what.inner != 1)
    offset = arith::DivUIOp::create(b, offset, inner[input]);
  return arith::RemUIOp::create(b, offset, extent[input]);
}

/// One element at a time: those from `from` to `to`, a block apart.
void KernelBuilder::buildElements(Value from, Value to) {
  auto loop = scf::ForOp::create(b, from, to, constant(tile.threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value offset = loop.getInductionVar();
  SmallVector<Group> groups;
  for (unsigned input = 0; input < inputs.size(); ++input)
    groups.push_back(loadGroup(input, offset));
  for (auto [value, output] :
       llvm::zip_equal(computeElement(groups, offset), outputs))
    memref::StoreOp::create(b, value, output, toIndex(offset));
}

/// The place in a loop of the element at `offset`.
Value KernelBuilder::computePlace(linalg::IndexOp op, Value offset) {
  auto dim = static_cast<size_t>(op.getDim());
  int64_t inside = 1;
  for (int64_t size : ArrayRef(kernel.sizes).drop_front(dim + 1))
    inside *= size;
  if (inside != 1)
    offset = arith::DivUIOp::create(b, offset, constant(inside));
  if (dim != 0)
    offset = arith::RemUIOp::create(b, offset, constant(kernel.sizes[dim]));
  return toIndex(offset);
}

/// Clones the body for element `step` of the group at `offset`.
void KernelBuilder::computeStep(IRMapping &mapping, Value offset,
                                int64_t step) {
  for (Operation &inner : kernel.body->without_terminator()) {
    auto place = dyn_cast<linalg::IndexOp>(inner);
    if (!place) {
      if (!inner.hasTrait<OpTrait::ConstantLike>())
        b.clone(inner, mapping);
      continue;
    }
    bool isStep = place.getDim() == kernel.sizes.size();
    mapping.map(place.getResult(),
                isStep ? arith::ConstantIndexOp::create(b, step).getResult()
                       : computePlace(place, offset));
  }
}

/// The results at `offset` in their storage types, from elements in their
/// storage types; inputs that are not loaded for each element have none. Groups
/// are combined, one element after the other, with the elements of the outputs.
SmallVector<Value> KernelBuilder::computeElement(ArrayRef<Group> groups,
                                                 Value offset) {
  IRMapping mapping = uniform;
  Operation *yield = kernel.body->getTerminator();
  auto held = kernel.body->getArguments().take_back(outputs.size());
  if (kernel.groupSize != 1)
    for (auto [argument, output] : llvm::zip_equal(held, outputs)) {
      Value element = memref::LoadOp::create(b, output, toIndex(offset));
      mapping.map(argument, fromStorage(b, element, argument.getType()));
    }
  SmallVector<Value> results;
  for (int64_t step = 0; step < kernel.groupSize; ++step) {
    for (auto [input, group] : llvm::zip_equal(kernel.inputs, groups))
      if (!group.empty())
        mapping.map(input.inBody, fromStorage(b, group[step], input.type));
    computeStep(mapping, offset, step);
    results = llvm::map_to_vector(yield->getOperands(), [&](Value value) {
      return mapping.lookup(value);
    });
    if (step + 1 < kernel.groupSize)
      mapping.map(held, ValueRange(results));
  }
  for (Value &result : results) {
    Type storage = getStorageType(result.getType());
    if (result.getType() != storage)
      result = arith::ExtUIOp::create(b, storage, result);
  }
  return results;
}

gpu::GPUFuncOp fad::buildKernel(OpBuilder &builder,
                                const ElementwiseKernel &kernel,
                                const Tile &tile, KernelVariant variant,
                                StringRef name) {
  return KernelBuilder(builder, kernel, tile, variant).build(name);
}
