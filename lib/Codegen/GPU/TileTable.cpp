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

/// With 2048 resident threads, two loads of 16 bytes each keep 64 KiB under way
/// on a multiprocessor. To add an architecture, run
/// `benchmarks/kernels/kernels_gpu.py --sweep` on it.
static constexpr TileParameters kTable[] = {
    // chip, threads, loads, resident threads
    {70, 256, 2, 2048},  // V100
    {75, 256, 2, 1024},  // T4
    {80, 256, 2, 2048},  // A100
    {86, 256, 2, 1536},  // GeForce 30, A10, L4, GeForce 40
    {90, 256, 2, 2048},  // H100, H200
    {100, 256, 2, 2048}, // B200
    {120, 256, 2, 1536}, // GeForce 50
};

const TileParameters &fad::getTileParameters(StringRef chip) {
  unsigned number = 0;
  if (chip.consume_front("sm_"))
    (void)chip.consumeInteger(10, number);
  const TileParameters *found = std::begin(kTable);
  for (const TileParameters &parameters : kTable)
    if (parameters.chip <= number)
      found = &parameters;
  return *found;
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

Tile fad::chooseTile(const ElementwiseKernel &kernel,
                     const TileParameters &parameters,
                     const TileOverrides &overrides) {
  int64_t loaded = llvm::count_if(kernel.inputs, [](const KernelInput &input) {
    return input.kind == KernelInput::Kind::Elements;
  });
  int64_t lanes = getLanes(kernel), widest = kAccessBytes / lanes;
  int64_t buffers = loaded + static_cast<int64_t>(kernel.outputs.size());

  Tile tile;
  tile.threads = overrides.threads ? overrides.threads : parameters.threads;
  tile.lanes = lanes;
  tile.accesses = overrides.accesses
                      ? overrides.accesses
                      : std::max<int64_t>(1, parameters.loads /
                                                 std::max<int64_t>(1, loaded));
  int64_t resident = parameters.residentThreads;
  if (!fitsFullOccupancy(kernel, widest, buffers))
    resident = std::min(resident, kRegisters / 64);
  tile.blocks = resident / tile.threads;
  return tile;
}
