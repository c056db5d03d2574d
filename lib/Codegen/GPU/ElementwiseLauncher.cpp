//===- ElementwiseLauncher.cpp - Launches of elementwise kernels ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseKernel.h"
#include "HostBuffers.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
struct Buffer : HostBuffer {
  /// Elements of the buffer for each element of the results; 0 for buffers that
  /// are repeated, or read at computed places.
  int64_t multiple;
};

/// Emits the launches that take the place of one loop.
class Launcher {
public:
  Launcher(OpBuilder &builder, linalg::GenericOp op, ElementwiseKernel kernel,
           int64_t largestLaunch)
      : b(op.getLoc(), builder), op(op), kernel(std::move(kernel)),
        largestLaunch(largestLaunch) {}

  void launch();

private:
  void prepareOperands();
  Buffer prepare(Value memref, int64_t multiple, bool isOutput) {
    return {buffers.prepare(memref, isOutput), multiple};
  }
  Value getProduct(ArrayRef<unsigned> dims);
  void prepareSizes(const KernelInput &input, AffineMap map);
  Value getPartSize(Value count);
  void launchPart(Value start, Value count);
  Value getAddress(const Buffer &buffer, Value start);
  Value overlaps(Value count);
  Value suitsVectors(Value start);
  void launchVariant(KernelVariant variant, Value start, Value count);

  Value constant(int64_t value) { return buffers.constant(value); }
  /// The element of `buffer` that belongs to that at `start` of the results.
  Value getStart(const Buffer &buffer, Value start) {
    return arith::MulIOp::create(b, start, constant(buffer.multiple));
  }

  ImplicitLocOpBuilder b;
  HostBuffers buffers{b};
  linalg::GenericOp op;
  ElementwiseKernel kernel;
  int64_t largestLaunch;
  /// In the order of the kernel's arguments; scalars have no buffer.
  SmallVector<std::optional<Buffer>> inputs;
  SmallVector<Value> scalars;
  SmallVector<Buffer> outputs;
  struct Repetition {
    Value inner, extent;
    bool isRow;
  };
  /// Those of the repeated inputs, and the sizes that are arguments.
  SmallVector<Repetition> repeated;
  SmallVector<Value> sizes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The product of the sizes of `dims` of the loops, which an output has all of.
Value Launcher::getProduct(ArrayRef<unsigned> dims) {
  Value output = op.getOutputs().front();
  Value product = constant(1);
  for (unsigned dim : dims)
    product = arith::MulIOp::create(
        b, product, memref::DimOp::create(b, output, constant(dim)));
  return product;
}

/// The sizes of a repeated input, and those that the kernel takes.
void Launcher::prepareSizes(const KernelInput &input, AffineMap map) {
  SmallVector<unsigned> dims, after;
  for (AffineExpr result : map.getResults())
    dims.push_back(cast<AffineDimExpr>(result).getPosition());
  if (!dims.empty())
    after = llvm::to_vector(llvm::seq(dims.back() + 1, map.getNumDims()));
  Value inner = getProduct(after), extent = getProduct(dims);
  repeated.push_back({inner, extent, input.isRow()});
  if (ShapedType::isDynamic(input.inner))
    sizes.push_back(inner);
  if (ShapedType::isDynamic(input.extent))
    sizes.push_back(extent);
}

void Launcher::prepareOperands() {
  SmallVector<OpOperand *> operands = op.getDpsInputOperands();
  for (auto [index, input] : llvm::enumerate(kernel.inputs)) {
    if (!input.isBuffer()) {
      // Those from outside of the loop follow its operands.
      Value scalar =
          index < operands.size() ? operands[index]->get() : input.inBody;
      scalars.push_back(scalar);
      inputs.push_back(std::nullopt);
      continue;
    }
    scalars.push_back({});
    if (input.kind == KernelInput::Kind::Gathered) {
      inputs.push_back(
          prepare(input.inBody, /*multiple=*/0, /*isOutput=*/false));
      continue;
    }
    OpOperand *operand = operands[index];
    bool isRepeated = input.kind == KernelInput::Kind::Repeated;
    inputs.push_back(prepare(operand->get(), isRepeated ? 0 : kernel.groupSize,
                             /*isOutput=*/false));
    if (isRepeated)
      prepareSizes(input, op.getMatchingIndexingMap(operand));
  }
  for (Value output : op.getOutputs())
    outputs.push_back(prepare(output, /*multiple=*/1, /*isOutput=*/true));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The address of the element at `start`, or of the first element of a repeated
/// buffer.
Value Launcher::getAddress(const Buffer &buffer, Value start) {
  return buffers.getAddress(buffer, getStart(buffer, start));
}

/// Whether an output shares a byte with an input among the first `count`
/// elements. Buffers that are repeated, or read at computed places, are never
/// outputs.
Value Launcher::overlaps(Value count) {
  Value zero = constant(0);
  Value any = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  auto isBelow = [&](const Buffer &lhs, const Buffer &rhs) {
    Value end = getAddress(lhs, count);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end,
                                 getAddress(rhs, zero));
  };
  for (const Buffer &output : outputs)
    for (const std::optional<Buffer> &input : inputs) {
      if (!input || input->multiple == 0)
        continue;
      Value apart = arith::OrIOp::create(b, isBelow(output, *input),
                                         isBelow(*input, output));
      Value one = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
      any = arith::OrIOp::create(b, any, arith::XOrIOp::create(b, apart, one));
    }
  return any;
}

/// Whether all buffers are aligned for vectors from `start` on, and no vector
/// crosses the end of a repetition.
Value Launcher::suitsVectors(Value start) {
  Value bits = constant(0);
  auto addBits = [&](const Buffer &buffer) {
    bits = arith::OrIOp::create(b, bits, getAddress(buffer, start));
  };
  for (const std::optional<Buffer> &input : inputs)
    if (input)
      addBits(*input);
  llvm::for_each(outputs, addBits);
  Value misaligned = arith::AndIOp::create(b, bits, constant(kAccessBytes - 1));
  Value lanes = constant(getLanes(kernel));
  for (auto [inner, extent, isRow] : repeated) {
    Value rest = arith::RemUIOp::create(b, isRow ? extent : inner, lanes);
    // One element may be repeated for any number of places. A row that happens
    // to have one is loaded as rows are.
    if (!isRow) {
      Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent,
                                          constant(1));
      rest = arith::SelectOp::create(b, isOne, constant(0), rest);
    }
    misaligned = arith::OrIOp::create(b, misaligned, rest);
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, misaligned,
                               constant(0));
}

void Launcher::launchVariant(KernelVariant variant, Value start, Value count) {
  int64_t tile =
      op->getAttrOfType<IntegerAttr>(FadDialect::kTileSizeAttr).getInt();
  Value rounded = arith::AddIOp::create(b, count, constant(tile - 1));
  Value blocks = arith::DivUIOp::create(b, rounded, constant(tile));

  SmallVector<Value> arguments;
  auto addBuffer = [&](const Buffer &buffer) {
    arguments.push_back(buffers.getArgument(buffer, getStart(buffer, start)));
  };
  auto addSize = [&](Value size) {
    arguments.push_back(arith::IndexCastUIOp::create(b, b.getI32Type(), size));
  };
  for (auto [input, scalar] : llvm::zip_equal(inputs, scalars)) {
    if (input)
      addBuffer(*input);
    else
      arguments.push_back(scalar);
  }
  for (const Buffer &output : outputs)
    addBuffer(output);
  addSize(count);
  llvm::for_each(sizes, addSize);
  buffers.launch(op, getSuffix(variant), blocks, arguments);
}

/// Launches the variant that suits the elements from `start` on.
void Launcher::launchPart(Value start, Value count) {
  auto branch = [&](Value condition, function_ref<void()> ifTrue,
                    function_ref<void()> ifFalse) {
    auto choice = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    ifTrue();
    b.setInsertionPointToStart(choice.elseBlock());
    ifFalse();
  };
  auto launchAs = [&](KernelVariant variant) {
    return [=] { launchVariant(variant, start, count); };
  };
  branch(
      suitsVectors(start),
      [&] {
        branch(overlaps(arith::AddIOp::create(b, start, count)),
               launchAs(KernelVariant::InPlace),
               launchAs(KernelVariant::Vectors));
      },
      launchAs(KernelVariant::Unaligned));
}

/// The number of elements of one launch: parts begin at the beginning of rows,
/// or of other repetitions.
Value Launcher::getPartSize(Value count) {
  Value largest =
      constant(std::max<int64_t>(1, largestLaunch / kernel.groupSize));
  if (repeated.empty() && !kernel.asksForPlace)
    return largest;
  // Places are counted from the first element of all.
  Value period = kernel.asksForPlace ? count : constant(1);
  for (auto [inner, extent, isRow] : repeated)
    period = arith::MaxUIOp::create(b, period,
                                    arith::MulIOp::create(b, inner, extent));
  Value part = arith::SubIOp::create(
      b, largest, arith::RemUIOp::create(b, largest, period));
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, count, largest);
  Value holds =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, period, largest);
  cf::AssertOp::create(
      b, arith::OrIOp::create(b, fits, holds),
      "more elements than one launch computes, none of whose parts begins "
      "where an operand is repeated; split the tensors");
  return arith::SelectOp::create(b, fits, largest, part);
}

void Launcher::launch() {
  b.setInsertionPoint(op);
  prepareOperands();
  // A group makes up one element.
  unsigned rank = op.getNumLoops() - (kernel.groupSize != 1);
  auto dims = llvm::to_vector(llvm::seq(0u, rank));
  Value count = getProduct(dims);
  auto loop = scf::ForOp::create(b, constant(0), count, getPartSize(count));
  b.setInsertionPointToStart(loop.getBody());
  Value start = loop.getInductionVar();
  Value rest = arith::SubIOp::create(b, count, start);
  launchPart(start, arith::MinUIOp::create(b, rest, loop.getStep()));
  b.setInsertionPointAfter(loop);
  buffers.finish();
  op.erase();
}

void fad::launchElementwise(OpBuilder &builder, linalg::GenericOp op,
                            const ElementwiseKernel &kernel,
                            int64_t largestLaunch) {
  Launcher(builder, op, kernel, largestLaunch).launch();
}
