//===- RowSum.cpp - Sums over rows in two kernels -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowSum.h"
#include "ElementwiseKernel.h"
#include "fad/Interfaces/Expr.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

Type RowSum::getSumType() const {
  return output.isF64() ? output : Float32Type::get(output.getContext());
}

/// The term of the sum at the end of `body`, if the other operand is the last
/// argument, which has no other use.
static Value findTerm(Block &body) {
  BlockArgument sum = body.getArguments().back();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !sum.hasOneUse() || *sum.user_begin() != add)
    return {};
  return add.getLhs() == sum ? add.getRhs() : add.getLhs();
}

std::optional<RowSum> fad::describeRowSum(linalg::GenericOp op) {
  unsigned loops = op.getNumLoops(), summed = op.getNumReductionLoops();
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || summed == 0 ||
      summed == loops || isElsewhere(op))
    return std::nullopt;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::reduction) != (loop < summed))
      return std::nullopt;
  auto kept = AffineMap::getMultiDimIdentityMap(loops, op.getContext())
                  .getMinorSubMap(loops - summed);
  OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
  Type inputType = getElementTypeOrSelf(input->get());
  Type outputType = getElementTypeOrSelf(init->get());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegion(), captured);
  Value term = findTerm(*op.getBody());
  if (!op.getMatchingIndexingMap(input).isIdentity() ||
      op.getMatchingIndexingMap(init) != kept || !term ||
      !isKernelElement(inputType) || !isa<FloatType>(outputType) ||
      !isKernelElement(outputType) ||
      !llvm::all_of(op.getBody()->without_terminator(), isKernelOperation) ||
      !llvm::all_of(captured, [](Value value) {
        return matchPattern(value, m_Constant());
      }))
    return std::nullopt;
  return RowSum{op, term, inputType, outputType, summed};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// The common part of the two kernels: one thread for each column.
class SumBuilder {
public:
  SumBuilder(OpBuilder &builder, RowSum sum, int64_t threads)
      : b(sum.op->getLoc(), builder), sum(sum), threads(threads) {}

  gpu::GPUFuncOp buildPartial(StringRef name);
  gpu::GPUFuncOp buildTotal(StringRef name);

private:
  gpu::GPUFuncOp buildSignature(StringRef name, ArrayRef<Type> types);
  /// The sum of `term` for numbers from `from` to `to`, from `first` on.
  Value addUp(Value from, Value to, Value first,
              llvm::function_ref<Value(Value)> term);
  Value computeTerm(Value element);
  /// Numbers are of 64 bits: matrices may have more elements than other kernels
  /// take.
  Value getPlace(Value row, Value columns, Value column) {
    return add(mul(row, columns), column);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return arith::MulIOp::create(b, lhs, rhs); }
  /// Continues in a branch for columns that exist.
  void guard(Value column, Value columns) {
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, columns);
    auto branch = scf::IfOp::create(b, exists);
    gpu::ReturnOp::create(b);
    b.setInsertionPointToStart(branch.thenBlock());
  }

  ImplicitLocOpBuilder b;
  RowSum sum;
  int64_t threads;
};
} // namespace

gpu::GPUFuncOp SumBuilder::buildSignature(StringRef name,
                                          ArrayRef<Type> types) {
  auto func = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  for (auto [index, type] : llvm::enumerate(types))
    if (isa<MemRefType>(type))
      func.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                      b.getUnitAttr());
  func.setArgAttr(0, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(&func.front());
  return func;
}

Value SumBuilder::addUp(Value from, Value to, Value first,
                        llvm::function_ref<Value(Value)> term) {
  auto loop = scf::ForOp::create(b, from, to, constant(1), first);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = term(loop.getInductionVar());
  Value total = arith::AddFOp::create(b, loop.getRegionIterArg(0), next);
  scf::YieldOp::create(b, total);
  return loop.getResult(0);
}

/// The body without its sum, for one element in its storage type.
Value SumBuilder::computeTerm(Value element) {
  IRMapping mapping;
  Block *body = sum.op.getBody();
  mapping.map(body->getArgument(0), fromStorage(b, element, sum.input));
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*body->getParent(), captured);
  for (Value value : captured)
    b.clone(*value.getDefiningOp(), mapping);
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  for (Operation &inner : body->without_terminator())
    if (&inner != add)
      b.clone(inner, mapping);
  ExprBuilder eb(b, b.getLoc(), sum.getSumType());
  Value term = mapping.lookupOrDefault(sum.term);
  return convert(Expr(eb, term), eb.type).getValue();
}

gpu::GPUFuncOp SumBuilder::buildPartial(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  Type index = b.getIndexType(), type = sum.getSumType();
  gpu::GPUFuncOp func =
      buildSignature(name, {getBufferType(sum.input), getBufferType(type),
                            index, index, index});
  ArrayRef<BlockArgument> arguments = func.getArguments();
  Value input = arguments[0], partial = arguments[1], rows = arguments[2],
        columns = arguments[3], height = arguments[4];
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  // Neighboring blocks have neighboring columns.
  Value width = constant(threads);
  Value across = arith::CeilDivUIOp::create(b, columns, width);
  Value part = arith::DivUIOp::create(b, block, across);
  Value left = arith::RemUIOp::create(b, block, across);
  Value column = add(mul(left, width), thread);
  guard(column, columns);
  Value from = mul(part, height);
  Value to = arith::MinUIOp::create(b, add(from, height), rows);
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type, 0));
  Value total = addUp(from, to, zero, [&](Value row) {
    Value place = getPlace(row, columns, column);
    return computeTerm(memref::LoadOp::create(b, input, place));
  });
  memref::StoreOp::create(b, total, partial, getPlace(part, columns, column));
  return func;
}

gpu::GPUFuncOp SumBuilder::buildTotal(StringRef name) {
  OpBuilder::InsertionGuard restore(b);
  Type index = b.getIndexType(), type = sum.getSumType();
  gpu::GPUFuncOp func = buildSignature(
      name, {getBufferType(type), getBufferType(sum.output), index, index});
  ArrayRef<BlockArgument> arguments = func.getArguments();
  Value partial = arguments[0], output = arguments[1], parts = arguments[2],
        columns = arguments[3];
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value column = add(mul(block, constant(threads)), thread);
  guard(column, columns);
  Value zero = constant(0), place = getPlace(zero, columns, column);
  Value held = memref::LoadOp::create(b, output, place);
  ExprBuilder eb(b, b.getLoc(), type);
  Value first = convert(Expr(eb, held), type).getValue();
  Value total = addUp(zero, parts, first, [&](Value part) -> Value {
    return memref::LoadOp::create(b, partial, getPlace(part, columns, column));
  });
  memref::StoreOp::create(b, convert(Expr(eb, total), sum.output).getValue(),
                          output, place);
  return func;
}

gpu::GPUFuncOp fad::buildPartialSums(OpBuilder &builder, const RowSum &sum,
                                     int64_t threads, StringRef name) {
  return SumBuilder(builder, sum, threads).buildPartial(name);
}

gpu::GPUFuncOp fad::buildTotalSums(OpBuilder &builder, const RowSum &sum,
                                   int64_t threads, StringRef name) {
  return SumBuilder(builder, sum, threads).buildTotal(name);
}
