//===- SizeVerification.cpp - Sizes of operations at run time -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "fad/Codegen/RuntimeVerification.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// A dimension of an operand.
struct Extent {
  OpOperand &operand;
  int64_t dim;

  std::string describe() const {
    return llvm::formatv("dimension #{0} of operand #{1}", dim,
                         operand.getOperandNumber());
  }
};

/// Asserts what one operation requires of sizes, before it.
class SizeVerifier {
public:
  SizeVerifier(Operation *op, OpBuilder &builder, Location loc,
               function_ref<std::string(Operation *, StringRef)> getMessage)
      : op(op), builder(builder), loc(loc), getMessage(getMessage) {}

  void checkEqual(Extent given, Extent expected) {
    check(compare(arith::CmpIPredicate::eq, getSize(given), getSize(expected)),
          given.describe() + " is not " + expected.describe());
  }
  /// Checks that `inner`, the size of a tile, is `tile` and at least 1.
  void checkTile(Extent inner, OpFoldResult tile) {
    auto value = dyn_cast<Value>(tile);
    if (!value)
      return;
    check(compare(arith::CmpIPredicate::sgt, value, getConstant(0)),
          "the tile that is " + inner.describe() + " has no element");
    check(compare(arith::CmpIPredicate::eq, value, getSize(inner)),
          "the tile does not have the size of " + inner.describe());
  }
  /// Checks that `given` is the number of tiles of `tile` elements that hold
  /// `whole`.
  void checkTiles(Extent given, Extent whole, OpFoldResult tile) {
    Value tiles = arith::CeilDivUIOp::create(builder, loc, getSize(whole),
                                             getValue(tile));
    check(compare(arith::CmpIPredicate::eq, getSize(given), tiles),
          given.describe() + " is not the number of tiles" + describe(tile) +
              " that hold " + whole.describe());
  }
  /// Checks that tiles of `tile` elements fill `whole`.
  void checkFull(Extent whole, OpFoldResult tile) {
    Value rest =
        arith::RemUIOp::create(builder, loc, getSize(whole), getValue(tile));
    check(compare(arith::CmpIPredicate::eq, rest, getConstant(0)),
          whole.describe() + " does not consist of whole tiles" +
              describe(tile) + ", and there is no padding_value");
  }

private:
  void check(Value condition, const std::string &detail) {
    cf::AssertOp::create(builder, loc, condition, getMessage(op, detail));
  }
  Value getConstant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value getSize(Extent extent) {
    return linalg::createOrFoldDimOp(builder, loc, extent.operand.get(),
                                     extent.dim);
  }
  Value getValue(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  /// The size of `tile` as part of a message, if it is known.
  static std::string describe(OpFoldResult tile) {
    std::optional<int64_t> size = getConstantIntValue(tile);
    return size ? " of " + std::to_string(*size) : "";
  }

  Operation *op;
  OpBuilder &builder;
  Location loc;
  function_ref<std::string(Operation *, StringRef)> getMessage;
};

/// An external model whose conditions are those of `verify`.
template <typename Model, typename Op>
struct SizeVerification
    : RuntimeVerifiableOpInterface::ExternalModel<Model, Op> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> getMessage) const {
    SizeVerifier verifier(op, builder, loc, getMessage);
    Model::verify(cast<Op>(op), verifier);
  }
};

/// Checks the sizes of `packed` against those of `whole`.
template <typename Op>
void verifyTiles(Op op, OpOperand &packed, OpOperand &whole, bool isPadded,
                 SizeVerifier &verifier) {
  int64_t rank = cast<RankedTensorType>(whole.get().getType()).getRank();
  for (auto [number, tile] : llvm::enumerate(op.getMixedTiles()))
    verifier.checkTile({packed, rank + int64_t(number)}, tile);
  DenseMap<int64_t, OpFoldResult> tiles = op.getDimAndTileMapping();
  ArrayRef<int64_t> order = op.getOuterDimsPerm();
  for (int64_t position : llvm::seq(rank)) {
    int64_t dim = order.empty() ? position : order[position];
    Extent outer{packed, position}, all{whole, dim};
    auto tile = tiles.find(dim);
    if (tile == tiles.end()) {
      verifier.checkEqual(outer, all);
      continue;
    }
    if (!isPadded)
      verifier.checkFull(all, tile->second);
    verifier.checkTiles(outer, all, tile->second);
  }
}

struct PackVerification : SizeVerification<PackVerification, linalg::PackOp> {
  static void verify(linalg::PackOp op, SizeVerifier &verifier) {
    verifyTiles(op, op.getDestMutable(), op.getSourceMutable(),
                /*isPadded=*/bool(op.getPaddingValue()), verifier);
  }
};

struct UnPackVerification
    : SizeVerification<UnPackVerification, linalg::UnPackOp> {
  static void verify(linalg::UnPackOp op, SizeVerifier &verifier) {
    // The end of the last tile may be left out.
    verifyTiles(op, op.getSourceMutable(), op.getDestMutable(),
                /*isPadded=*/true, verifier);
  }
};

struct ScatterAddVerification
    : SizeVerification<ScatterAddVerification, ScatterAddOp> {
  static void verify(ScatterAddOp op, SizeVerifier &verifier) {
    MutableArrayRef<OpOperand> indices = op.getIndicesMutable();
    OpOperand &updates = op.getUpdatesMutable();
    int64_t batchRank = op.getBatchRank();
    for (int64_t dim : llvm::seq(batchRank)) {
      for (OpOperand &others : indices.drop_front())
        verifier.checkEqual({others, dim}, {indices.front(), dim});
      verifier.checkEqual({updates, dim}, {indices.front(), dim});
    }
    for (auto [number, dim] : llvm::enumerate(op.getSliceDims()))
      verifier.checkEqual({updates, batchRank + int64_t(number)},
                          {op.getInitMutable(), dim});
  }
};

/// Places are checked where `fad-to-linalg` inserts the slices.
struct ScatterVerification
    : SizeVerification<ScatterVerification, tensor::ScatterOp> {
  static void verify(tensor::ScatterOp op, SizeVerifier &verifier) {
    OpOperand &source = op.getSourceMutable();
    int64_t batchRank = op.getIndices().getType().getRank() - 1;
    for (int64_t dim : llvm::seq(batchRank))
      verifier.checkEqual({source, dim}, {op.getIndicesMutable(), dim});
    int64_t rank = op.getDest().getType().getRank();
    bool keepsUnitDims = op.getSource().getType().getRank() == batchRank + rank;
    int64_t next = batchRank;
    for (int64_t dim : llvm::seq(rank)) {
      bool isIndexed = llvm::is_contained(op.getScatterDims(), dim);
      if (!isIndexed)
        verifier.checkEqual({source, next}, {op.getDestMutable(), dim});
      next += keepsUnitDims || !isIndexed;
    }
  }
};
} // namespace

void fad::registerRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::PackOp::attachInterface<PackVerification>(*context);
    linalg::UnPackOp::attachInterface<UnPackVerification>(*context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         tensor::TensorDialect>();
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ScatterOp::attachInterface<ScatterVerification>(*context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         tensor::TensorDialect>();
  });
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    ScatterAddOp::attachInterface<ScatterAddVerification>(*context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         tensor::TensorDialect>();
  });
  registerVectorVerification(registry);
}

bool fad::isVerifiedBeforeLowering(Operation *op) {
  return isa<linalg::PackOp, linalg::UnPackOp, tensor::ScatterOp, ScatterAddOp>(
      op);
}
