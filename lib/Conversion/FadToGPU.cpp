//===- FadToGPU.cpp - Outline elementwise operations as kernels -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Conversion/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADTOGPU
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Bytes that one thread moves in one access.
static constexpr int64_t kAccessBytes = 16;

/// The bound stated for buffers of any size: bare pointers call for static
/// shapes, and no buffer has so many elements.
static constexpr int64_t kUnbounded = int64_t(1) << 40;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type of an element in memory: i1 takes a byte.
static Type getStorageType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

static int64_t getByteSize(Type storage) {
  return storage.isIndex() ? 8 : storage.getIntOrFloatBitWidth() / 8;
}

/// Whether a kernel can compute with `type`.
static bool isKernelScalar(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
      type);
}

/// Whether a kernel can take `type` as an argument or as an element in memory.
static bool isKernelElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isKernelScalar(type);
}

/// Fails, and says why, unless every type in `op` is one that kernels know.
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
// The shape of a kernel
//===----------------------------------------------------------------------===//

namespace {
/// How the elements of a tile are shared out: thread `t` computes `accesses`
/// vectors of `lanes` elements, the first at `t * lanes`, each next one
/// `threads * lanes` further on.
struct Tile {
  int64_t threads;
  int64_t lanes;
  int64_t accesses;

  int64_t getStride() const { return threads * lanes; }
  int64_t getSize() const { return getStride() * accesses; }
};
} // namespace

/// Vectors have 16 bytes of the widest type. A kernel with one input gives each
/// thread two, so that enough loads are under way to hide memory's latency.
static Tile chooseTile(ElementwiseOp op, int64_t threads) {
  int64_t widest = 1, inputs = 0;
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      ++inputs;
      widest = std::max(widest,
                        getByteSize(getStorageType(tensor.getElementType())));
    }
  for (Type type : op->getResultTypes())
    widest = std::max(widest,
                      getByteSize(getStorageType(getElementTypeOrSelf(type))));
  return {threads, kAccessBytes / widest, inputs == 1 ? 2 : 1};
}

/// The name of `op`'s kernel: its function and its first activation primitive,
/// or its number in the function. PTX allows letters, digits, `_` and `$`.
static std::string getKernelName(ElementwiseOp op, unsigned number) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::string name = function ? function.getName().str() : "kernel";
  auto primitives = llvm::make_filter_range(
      op.getBodyBlock()->without_terminator(),
      [](Operation &inner) { return isa<FadDialect>(inner.getDialect()); });
  name += '_';
  name += primitives.empty()
              ? std::to_string(number)
              : (*primitives.begin()).getName().stripDialect().str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '$')
      c = '_';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

//===----------------------------------------------------------------------===//
// Building a kernel
//===----------------------------------------------------------------------===//

namespace {
/// Builds the kernel of one operation.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, ElementwiseOp op, Tile tile)
      : b(op.getLoc(), builder), op(op), tile(tile) {}

  gpu::GPUFuncOp build(StringRef name);

private:
  gpu::GPUFuncOp buildSignature(StringRef name);
  Value isAligned();
  void buildFullTile(Value base, Value thread);
  void buildPartialTile(Value base, Value end, Value thread);
  SmallVector<Value> computeElement(ValueRange elements);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  // Offsets stay below kUnbounded elements, so none of these overflows.
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(b, lhs, rhs, kNoWrap);
  }
  Value mul(Value lhs, int64_t rhs) {
    return arith::MulIOp::create(b, lhs, constant(rhs), kNoWrap);
  }
  static constexpr arith::IntegerOverflowFlags kNoWrap =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

  ImplicitLocOpBuilder b;
  ElementwiseOp op;
  Tile tile;
  /// The kernel's arguments for the operands and for the results.
  SmallVector<Value> inputs, outputs;
  Value count;
  /// What is the same for every element: scalar operands and constants.
  IRMapping uniform;
};
} // namespace

gpu::GPUFuncOp KernelBuilder::build(StringRef name) {
  gpu::GPUFuncOp kernel = buildSignature(name);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.front());
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    if (inner.hasTrait<OpTrait::ConstantLike>())
      b.clone(inner, uniform);

  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x,
                                         b.getIndexAttr(tile.threads));
  Value base = mul(block, tile.getSize());
  Value end = add(base, constant(tile.getSize()));
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, count);
  Value aligned = isAligned();
  Value full = arith::AndIOp::create(b, fits, aligned);
  auto branch = scf::IfOp::create(b, full, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  buildFullTile(base, thread);
  b.setInsertionPointToStart(branch.elseBlock());
  buildPartialTile(base, end, thread);
  b.setInsertionPointAfter(branch);
  gpu::ReturnOp::create(b);
  return kernel;
}

/// Creates the function and records what its arguments stand for.
gpu::GPUFuncOp KernelBuilder::buildSignature(StringRef name) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  auto addBuffer = [&](Type element, StringRef access) {
    Type storage = getStorageType(element);
    types.push_back(MemRefType::get({kUnbounded}, storage));
    attrs.push_back(b.getDictionaryAttr(
        {b.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(getByteSize(storage))),
         b.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr()),
         b.getNamedAttr(access, b.getUnitAttr())}));
  };
  for (Type type : op.getInputs().getTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      addBuffer(tensor.getElementType(),
                LLVM::LLVMDialect::getReadonlyAttrName());
      continue;
    }
    types.push_back(type);
    attrs.push_back(b.getDictionaryAttr({}));
  }
  for (Type type : op.getOutputs().getTypes())
    addBuffer(getElementTypeOrSelf(type),
              LLVM::LLVMDialect::getWriteOnlyAttrName());
  types.push_back(b.getIndexType());
  attrs.push_back(b.getDictionaryAttr({}));

  auto kernel = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(tile.threads), 1, 1}));
  kernel.setAllArgAttrs(attrs);

  size_t numInputs = op.getInputs().size();
  ArrayRef<BlockArgument> arguments = kernel.getArguments();
  llvm::append_range(inputs, arguments.take_front(numInputs));
  llvm::append_range(outputs, arguments.drop_front(numInputs).drop_back());
  count = arguments.back();
  for (auto [index, input] : llvm::enumerate(inputs))
    if (!isa<MemRefType>(input.getType()))
      uniform.map(op.getBodyArgument(index), input);
  return kernel;
}

/// Whether every buffer starts where vectors may be loaded from.
Value KernelBuilder::isAligned() {
  Value bits;
  for (Value buffer : llvm::concat<Value>(inputs, outputs)) {
    if (!isa<MemRefType>(buffer.getType()))
      continue;
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
    bits = bits ? arith::OrIOp::create(b, bits, address) : address;
  }
  Value low = arith::AndIOp::create(b, bits, constant(kAccessBytes - 1));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, low, constant(0));
}

/// All loads come first, so that they are under way together.
void KernelBuilder::buildFullTile(Value base, Value thread) {
  Value first = add(base, mul(thread, tile.lanes));
  auto getAlignment = [&](Value buffer) {
    return llvm::MaybeAlign(
        tile.lanes * getByteSize(getElementTypeOrSelf(buffer.getType())));
  };
  SmallVector<Value> offsets;
  SmallVector<SmallVector<ValueRange>> loaded;
  for (int64_t access = 0; access < tile.accesses; ++access) {
    offsets.push_back(access ? add(first, constant(access * tile.getStride()))
                             : first);
    SmallVector<ValueRange> &vectors = loaded.emplace_back();
    for (Value input : inputs) {
      auto type = dyn_cast<MemRefType>(input.getType());
      if (!type) {
        vectors.emplace_back();
        continue;
      }
      Value vector = vector::LoadOp::create(
          b, VectorType::get({tile.lanes}, type.getElementType()), input,
          offsets.back(), /*nontemporal=*/false, getAlignment(input));
      vectors.push_back(vector::ToElementsOp::create(b, vector).getElements());
    }
  }
  for (auto [offset, vectors] : llvm::zip_equal(offsets, loaded)) {
    SmallVector<SmallVector<Value>> computed(outputs.size());
    for (int64_t lane = 0; lane < tile.lanes; ++lane) {
      SmallVector<Value> elements;
      for (ValueRange vector : vectors)
        elements.push_back(vector.empty() ? Value() : vector[lane]);
      for (auto [index, value] : llvm::enumerate(computeElement(elements)))
        computed[index].push_back(value);
    }
    for (auto [output, elements] : llvm::zip_equal(outputs, computed)) {
      auto type = VectorType::get({tile.lanes}, elements.front().getType());
      Value vector = vector::FromElementsOp::create(b, type, elements);
      vector::StoreOp::create(b, vector, output, ValueRange{offset},
                              /*nontemporal=*/false, getAlignment(output));
    }
  }
}

/// One element at a time, for a tile that is not full or not aligned.
void KernelBuilder::buildPartialTile(Value base, Value end, Value thread) {
  Value from = add(base, thread);
  Value to = arith::MinSIOp::create(b, end, count);
  auto loop = scf::ForOp::create(b, from, to, constant(tile.threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  SmallVector<Value> elements;
  for (Value input : inputs)
    elements.push_back(isa<MemRefType>(input.getType())
                           ? memref::LoadOp::create(b, input, index).getResult()
                           : Value());
  for (auto [value, output] :
       llvm::zip_equal(computeElement(elements), outputs))
    memref::StoreOp::create(b, value, output, index);
}

/// Clones the body for one element, given as it is in memory; scalar operands
/// have none. Returns the results as they go to memory.
SmallVector<Value> KernelBuilder::computeElement(ValueRange elements) {
  IRMapping mapping = uniform;
  for (auto [index, element] : llvm::enumerate(elements)) {
    BlockArgument argument = op.getBodyArgument(index);
    if (!element)
      continue;
    if (argument.getType() != element.getType()) {
      Value zero = arith::ConstantIntOp::create(b, element.getType(), 0);
      element =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, element, zero);
    }
    mapping.map(argument, element);
  }
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    if (!inner.hasTrait<OpTrait::ConstantLike>())
      b.clone(inner, mapping);
  SmallVector<Value> results;
  for (Value value : op.getYield().getValues()) {
    Value result = mapping.lookup(value);
    Type storage = getStorageType(result.getType());
    if (result.getType() != storage)
      result = arith::ExtUIOp::create(b, storage, result);
    results.push_back(result);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct FadToGPUPass : fad::impl::FadToGPUBase<FadToGPUPass> {
  using FadToGPUBase::FadToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (blockSize <= 0 || blockSize > 1024 || blockSize % 32 != 0) {
      mlir::emitError(module.getLoc(), "block-size is ")
          << static_cast<int64_t>(blockSize)
          << "; give a multiple of 32 from 32 to 1024";
      return signalPassFailure();
    }
    SmallVector<ElementwiseOp> ops;
    module.walk([&](ElementwiseOp op) {
      // One without results computes nothing; one with a kernel has been here.
      if (op.getNumResults() && !op->hasAttr(FadDialect::kKernelAttr))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    for (ElementwiseOp op : ops)
      if (failed(checkTypes(op)))
        return signalPassFailure();

    auto builder = OpBuilder::atBlockEnd(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    SymbolTable(module).insert(kernels);
    SymbolTable symbols(kernels);
    llvm::SmallDenseMap<Operation *, unsigned> numbers;
    for (ElementwiseOp op : ops)
      outline(op, numbers[op->getParentOfType<FunctionOpInterface>()]++,
              kernels, symbols);
    RewritePatternSet patterns(&getContext());
    populateExpandPrimitivesPatterns(patterns);
    if (failed(applyPatternsGreedily(kernels, std::move(patterns))))
      signalPassFailure();
  }

  /// Adds the kernel of `op` to `kernels` and says so on `op`.
  void outline(ElementwiseOp op, unsigned number, gpu::GPUModuleOp kernels,
               SymbolTable &symbols) {
    Tile tile = chooseTile(op, blockSize);
    OpBuilder builder(op.getContext());
    gpu::GPUFuncOp kernel =
        KernelBuilder(builder, op, tile).build(getKernelName(op, number));
    StringAttr name = symbols.insert(kernel);
    op->setAttr(FadDialect::kKernelAttr,
                SymbolRefAttr::get(kernels.getNameAttr(),
                                   FlatSymbolRefAttr::get(name)));
    op->setAttr(FadDialect::kBlockSizeAttr,
                builder.getI64IntegerAttr(tile.threads));
    op->setAttr(FadDialect::kTileSizeAttr,
                builder.getI64IntegerAttr(tile.getSize()));
  }
};
} // namespace
