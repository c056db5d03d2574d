//===- VectorVerification.cpp - Vectors of tensors at run time ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::fad;
using arith::CmpIPredicate;

namespace {
/// Asserts that the elements that one operation accesses are inside of its
/// tensor, before it.
class AccessVerifier {
public:
  AccessVerifier(Operation *op, OpBuilder &builder, Location loc,
                 function_ref<std::string(Operation *, StringRef)> getMessage)
      : op(op), builder(builder), loc(loc), getMessage(getMessage) {}

  /// Checks that `index` is inside of dimension `dim` of `base`, unless `mask`,
  /// which may be null, selects nothing.
  void checkIndex(Value base, int64_t dim, Value index, Value mask) {
    Value inside = compare(CmpIPredicate::ult, index, getSize(base, dim));
    if (mask)
      inside = arith::OrIOp::create(builder, loc, inside, selectsNothing(mask));
    check(inside, dim);
  }
  void checkStart(int64_t dim, Value index) {
    check(compare(CmpIPredicate::sge, index, getConstant(0)), dim);
  }
  /// Checks that `length` elements from `index` on are inside.
  void checkRange(Value base, int64_t dim, Value index, int64_t length) {
    Value last = arith::SubIOp::create(builder, loc, getSize(base, dim),
                                       getConstant(length));
    checkStart(dim, index);
    check(compare(CmpIPredicate::sle, index, last), dim);
  }
  /// Checks each lane of `indices`, counted from `start`, that `mask` selects.
  void checkLanes(Value base, int64_t dim, Value start, Value indices,
                  Value mask) {
    check(areInside(getSize(base, dim), start, indices, mask), dim);
  }
  /// The same, for places in all of `base`, in row-major order.
  void checkPlaces(Value base, ValueRange start, Value indices, Value mask);
  /// The numbers of the lanes along dimension `dim` of `type`.
  Value getLanes(VectorType type, int64_t dim);
  Value getConstant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

private:
  Value selectsNothing(Value mask);
  /// Reduces a vector of i1.
  Value reduce(vector::CombiningKind kind, Value lanes);
  /// Whether all lanes of `indices` that `mask` selects, counted from `start`,
  /// are below `size`.
  Value areInside(Value size, Value start, Value indices, Value mask);
  void check(Value condition, int64_t dim) {
    cf::AssertOp::create(builder, loc, condition,
                         getMessage(op, "the vector is not inside of dimension "
                                        "#" +
                                            std::to_string(dim) +
                                            " of the tensor"));
  }
  /// The size of dimension `dim`; 1 for a tensor of rank 0.
  Value getSize(Value base, int64_t dim) {
    if (cast<ShapedType>(base.getType()).getRank() == 0)
      return getConstant(1);
    return linalg::createOrFoldDimOp(builder, loc, base, dim);
  }
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }

  Operation *op;
  OpBuilder &builder;
  Location loc;
  function_ref<std::string(Operation *, StringRef)> getMessage;
};
} // namespace

Value AccessVerifier::getLanes(VectorType type, int64_t dim) {
  Type index = builder.getIndexType();
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[dim] = type.getDimSize(dim);
  Value lanes =
      vector::StepOp::create(builder, loc, VectorType::get(shape[dim], index));
  lanes = vector::ShapeCastOp::create(builder, loc,
                                      VectorType::get(shape, index), lanes);
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(type.getShape(), index), lanes);
}

Value AccessVerifier::areInside(Value size, Value start, Value indices,
                                Value mask) {
  auto type = cast<VectorType>(indices.getType())
                  .cloneWith(std::nullopt, builder.getIndexType());
  auto spread = [&](Value value) {
    return vector::BroadcastOp::create(builder, loc, type, value);
  };
  if (indices.getType() != type)
    indices = arith::IndexCastOp::create(builder, loc, type, indices);
  Value places = arith::AddIOp::create(builder, loc, indices, spread(start));
  Value inside = compare(CmpIPredicate::ult, places, spread(size));
  auto all = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<ShapedType>(mask.getType()), true));
  Value isUnused = arith::XOrIOp::create(builder, loc, mask, all);
  Value fits = arith::OrIOp::create(builder, loc, inside, isUnused);
  return reduce(vector::CombiningKind::AND, fits);
}

Value AccessVerifier::reduce(vector::CombiningKind kind, Value lanes) {
  int64_t count = cast<VectorType>(lanes.getType()).getNumElements();
  Value flat = vector::ShapeCastOp::create(
      builder, loc, VectorType::get(count, builder.getI1Type()), lanes);
  return vector::ReductionOp::create(builder, loc, kind, flat);
}

Value AccessVerifier::selectsNothing(Value mask) {
  Value any = reduce(vector::CombiningKind::OR, mask);
  Value all =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return arith::XOrIOp::create(builder, loc, any, all);
}

void AccessVerifier::checkPlaces(Value base, ValueRange start, Value indices,
                                 Value mask) {
  Value place = getConstant(0), size = getConstant(1);
  for (auto [dim, index] : llvm::enumerate(start)) {
    Value length = getSize(base, dim);
    place = arith::MulIOp::create(builder, loc, place, length);
    place = arith::AddIOp::create(builder, loc, place, index);
    size = arith::MulIOp::create(builder, loc, size, length);
  }
  cf::AssertOp::create(
      builder, loc, areInside(size, place, indices, mask),
      getMessage(op, "the vector is not inside of the tensor"));
}

/// Whether `op` is in a vector.mask, whose region takes no other operations,
/// and which upstream does not bufferize.
static bool isMasked(Operation *op) {
  return isa<vector::MaskOp>(op->getParentOp());
}

/// The position of the vector dimension that runs along dimension `dim` of the
/// tensor, if any.
static std::optional<unsigned> findVectorDim(AffineMap map, int64_t dim) {
  return map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
}

namespace {
template <typename Op>
struct TransferVerification
    : RuntimeVerifiableOpInterface::ExternalModel<TransferVerification<Op>,
                                                  Op> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> getMessage) const {
    auto transfer = cast<Op>(op);
    if (transfer.getVectorType().isScalable() || isMasked(op))
      return;
    AccessVerifier verifier(op, builder, loc, getMessage);
    Value base = transfer.getBase();
    Value mask = transfer.getMask();
    AffineMap map = transfer.getPermutationMap();
    // The dimensions of a mask are in the order of those of the tensor.
    int64_t maskDim = 0;
    for (auto [dim, index] : llvm::enumerate(transfer.getIndices())) {
      std::optional<unsigned> vectorDim = findVectorDim(map, dim);
      if (!vectorDim) {
        verifier.checkIndex(base, dim, index, mask);
        continue;
      }
      int64_t length = transfer.getVectorType().getDimSize(*vectorDim);
      if (!transfer.isDimInBounds(*vectorDim))
        // Elements behind the end are left out, but none before the beginning.
        verifier.checkStart(dim, index);
      else if (mask)
        verifier.checkLanes(
            base, dim, index,
            verifier.getLanes(cast<VectorType>(mask.getType()), maskDim), mask);
      else
        verifier.checkRange(base, dim, index, length);
      ++maskDim;
    }
  }
};

template <typename Op>
struct IndexedVerification
    : RuntimeVerifiableOpInterface::ExternalModel<IndexedVerification<Op>, Op> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> getMessage) const {
    auto access = cast<Op>(op);
    if (access.getVectorType().isScalable() || isMasked(op))
      return;
    AccessVerifier verifier(op, builder, loc, getMessage);
    Value base = access.getBase();
    // Upstream's vectorization makes gathers that count through all dimensions.
    if (isa<vector::GatherOp>(op))
      return verifier.checkPlaces(base, access.getOffsets(),
                                  access.getIndices(), access.getMask());
    SmallVector<Value> offsets(access.getOffsets());
    // A tensor of rank 0 has the place 0.
    Value start =
        offsets.empty() ? verifier.getConstant(0) : offsets.pop_back_val();
    for (auto [dim, offset] : llvm::enumerate(offsets))
      verifier.checkIndex(base, dim, offset, /*mask=*/Value());
    verifier.checkLanes(base, offsets.size(), start, access.getIndices(),
                        access.getMask());
  }
};
} // namespace

void fad::registerVectorVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    vector::TransferReadOp::attachInterface<
        TransferVerification<vector::TransferReadOp>>(*context);
    vector::TransferWriteOp::attachInterface<
        TransferVerification<vector::TransferWriteOp>>(*context);
    vector::GatherOp::attachInterface<IndexedVerification<vector::GatherOp>>(
        *context);
    vector::ScatterOp::attachInterface<IndexedVerification<vector::ScatterOp>>(
        *context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         tensor::TensorDialect>();
  });
}
