//===- IndexRange.cpp - Ranges of indices of loops ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexRange.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;

namespace {
struct IndexRange
    : InferIntRangeInterface::ExternalModel<IndexRange, linalg::IndexOp> {
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges>,
                         SetIntRangeFn setResultRanges) const {
    auto index = cast<linalg::IndexOp>(op);
    auto owner = cast<linalg::LinalgOp>(op->getBlock()->getParentOp());
    int64_t size = owner.getStaticLoopRanges()[index.getDim()];
    unsigned width = IndexType::kInternalStorageBitWidth;
    APInt last = APInt::getSignedMaxValue(width);
    // A loop of no iteration has no index, of which all is true.
    if (ShapedType::isStatic(size))
      last = APInt(width, std::max<int64_t>(size - 1, 0));
    setResultRanges(index.getResult(), ConstantIntRanges::fromUnsigned(
                                           APInt::getZero(width), last));
  }

  void inferResultRangesFromOptional(Operation *op,
                                     ArrayRef<IntegerValueRange> ranges,
                                     SetIntLatticeFn setResultRanges) const {
    intrange::detail::defaultInferResultRanges(cast<InferIntRangeInterface>(op),
                                               ranges, setResultRanges);
  }
};
} // namespace

void fad::registerIndexRange(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::IndexOp::attachInterface<IndexRange>(*context);
  });
}
