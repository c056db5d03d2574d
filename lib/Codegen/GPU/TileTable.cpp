//===- TileTable.cpp - Division of elements among threads -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTable.h"
#include "ElementwiseKernel.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fad;

/// Registers of a multiprocessor, on all architectures from sm_70 on.
static constexpr int64_t kRegisters = 65536;

/// The threads that a multiprocessor of `chip`, such as "sm_90", has at most.
static int64_t getResidentThreads(StringRef chip) {
  unsigned number = 0;
  if (chip.consume_front("sm_"))
    (void)chip.consumeInteger(10, number);
  // T4; then GeForce 30 and 40, A10, L4; then GeForce 50.
  if (number >= 75 && number < 80)
    return 1024;
  bool isSmall = (number >= 86 && number < 90) || number >= 120;
  return isSmall ? 1536 : 2048;
}

/// The weight of an operation of a body. Functions of libdevice, as all
/// functions of 16 bits are, have tens of operations.
static int64_t getWeight(Operation &op) {
  constexpr int64_t kFunction = 40;
  if (op.hasTrait<OpTrait::ConstantLike>())
    return 0;
  auto activation = dyn_cast<ActivationOpInterface>(&op);
  if (activation && activation.takesManyRegisters())
    return kFunction;
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::ClampFOp,
          math::CopySignOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
          math::SqrtOp, math::TruncOp>(op))
    return 1;
  if (isa<math::ErfOp, math::ErfcOp, math::ExpOp, math::TanhOp>(op))
    return op.getResult(0).getType().isF32() ? 1 : kFunction;
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) ? kFunction : 1;
}

/// A kernel of activations keeps to the 32 registers that let a multiprocessor
/// be full. More buffers, wider numbers and longer bodies have twice as many,
/// rather than spills. In 16 bits twice as many elements are under way.
static bool fitsFullOccupancy(const ElementwiseKernel &kernel, int64_t widest,
                              int64_t buffers) {
  constexpr int64_t kBuffers = 4, kWeight = 100, kWeightOfNarrow = 40;
  int64_t weight = 0;
  for (Operation &op : *kernel.body)
    weight += getWeight(op);
  return kernel.groupSize == 1 && widest <= 4 && buffers <= kBuffers &&
         weight <= (widest == 4 ? kWeight : kWeightOfNarrow);
}

int64_t fad::getLanes(const ElementwiseKernel &kernel) {
  int64_t widest = 1;
  for (const KernelInput &input : kernel.inputs)
    if (input.isBuffer())
      widest = std::max(widest, getStorageBytes(input.type));
  for (Type type : kernel.outputs)
    widest = std::max(widest, getStorageBytes(type));
  return kAccessBytes / widest;
}

Tile fad::chooseTile(const ElementwiseKernel &kernel, StringRef chip,
                     int64_t threads, int64_t accesses) {
  int64_t loaded = llvm::count_if(kernel.inputs, [](const KernelInput &input) {
    return input.kind == KernelInput::Kind::Elements;
  });
  int64_t lanes = getLanes(kernel), widest = kAccessBytes / lanes;
  int64_t buffers = loaded + static_cast<int64_t>(kernel.outputs.size());

  Tile tile;
  tile.threads = threads ? threads : kThreads;
  tile.lanes = lanes;
  // Each input gets an equal share of the loads, one at least.
  tile.accesses =
      accesses ? accesses
               : std::max<int64_t>(1, kLoads / std::max<int64_t>(1, loaded));
  int64_t resident = getResidentThreads(chip);
  if (!fitsFullOccupancy(kernel, widest, buffers))
    resident = std::min(resident, kRegisters / 64);
  tile.blocks = resident / tile.threads;
  return tile;
}
