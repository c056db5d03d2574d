//===- RowSumLauncher.cpp - Launches of sums over rows --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBuffers.h"
#include "RowSum.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fad;

/// The number of rows of a block. It grows where one thread would have too many
/// partial sums to add. It depends on sizes alone, and so does the result.
static constexpr int64_t kMinRows = 32, kMaxParts = 4096;

void fad::launchRowSum(OpBuilder &builder, linalg::GenericOp op,
                       const RowSum &sum) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  b.setInsertionPoint(op);
  HostBuffers buffers(b);
  Value matrix = op.getInputs().front(), result = op.getOutputs().front();
  auto getProduct = [&](unsigned from, unsigned to) {
    Value product = buffers.constant(1);
    for (unsigned dim = from; dim < to; ++dim)
      product = arith::MulIOp::create(
          b, product, memref::DimOp::create(b, matrix, buffers.constant(dim)));
    return product;
  };
  Value rows = getProduct(0, sum.numSummed);
  Value columns = getProduct(sum.numSummed, op.getNumLoops());
  auto divide = [&](Value number, Value divisor) -> Value {
    return arith::CeilDivUIOp::create(b, number, divisor);
  };
  Value height = arith::MaxUIOp::create(
      b, divide(rows, buffers.constant(kMaxParts)), buffers.constant(kMinRows));
  Value parts = divide(rows, height);
  Value threads = buffers.constant(
      op->getAttrOfType<IntegerAttr>(FadDialect::kBlockSizeAttr).getInt());
  Value across = divide(columns, threads);

  HostBuffer input = buffers.prepare(matrix, /*isOutput=*/false);
  // The kernel adds to the elements of the result.
  HostBuffer output = buffers.prepare(result, /*isOutput=*/true);
  HostBuffer partial = buffers.allocate(
      sum.getSumType(), arith::MulIOp::create(b, parts, columns));

  auto launch = [&](StringRef suffix, Value blocks, ArrayRef<HostBuffer> arrays,
                    ArrayRef<Value> numbers) {
    SmallVector<Value> arguments;
    Value start = buffers.constant(0);
    for (const HostBuffer &array : arrays)
      arguments.push_back(buffers.getArgument(array, start));
    llvm::append_range(arguments, numbers);
    buffers.launch(op, suffix, blocks, arguments);
  };
  launch(kPartialSuffix, arith::MulIOp::create(b, across, parts),
         {input, partial}, {rows, columns, height});
  launch(kTotalSuffix, across, {partial, output}, {parts, columns});
  buffers.finish();
  op.erase();
}
