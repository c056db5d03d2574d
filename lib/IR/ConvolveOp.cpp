//===- ConvolveOp.cpp - fad.convolve --------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

/// Adds the terms of the sum `expr` to `window`, `count` of which are there.
static bool addTerms(AffineExpr expr, ConvolveOp::Window &window,
                     unsigned &count) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    window.offset += constant.getValue();
    return true;
  }
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      binary && binary.getKind() == AffineExprKind::Add)
    return addTerms(binary.getLHS(), window, count) &&
           addTerms(binary.getRHS(), window, count);
  int64_t step = 1;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (binary.getKind() != AffineExprKind::Mul || !constant)
      return false;
    step = constant.getValue();
    expr = binary.getLHS();
  }
  auto loop = dyn_cast<AffineDimExpr>(expr);
  if (!loop || step < 1 || step > ConvolveOp::kMaxStep || count == 2)
    return false;
  window.loops[count] = loop.getPosition();
  window.steps[count++] = step;
  return true;
}

std::optional<ConvolveOp::Window> ConvolveOp::matchWindow(AffineExpr expr) {
  Window window = {};
  unsigned count = 0;
  if (!addTerms(expr, window, count) || count != 2 ||
      window.loops[0] == window.loops[1] || !llvm::isInt<32>(window.offset))
    return std::nullopt;
  return window;
}

void ConvolveOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult
ConvolveOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &reified) {
  if (getResult())
    reified.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Verifies that operands and result have the types of one convolution.
static LogicalResult verifyTypes(ConvolveOp op) {
  auto types = llvm::map_to_vector(
      op->getOperandTypes(), [](Type type) { return cast<ShapedType>(type); });
  bool onTensors = isa<RankedTensorType>(types[2]);
  for (ShapedType type : types)
    if (isa<RankedTensorType>(type) != onTensors)
      return op.emitOpError("expects tensors only, or buffers only");
  if (onTensors != bool(op.getResult()))
    return op.emitOpError(onTensors ? "on tensors expects a result"
                                    : "on buffers expects no result");
  if (onTensors && op.getResult().getType() != types[2])
    return op.emitOpError("expects a result of the type of 'init', ")
           << types[2] << ", but got " << op.getResult().getType();
  Type factor = types[0].getElementType(), sum = types[2].getElementType();
  if (types[1].getElementType() != factor)
    return op.emitOpError("expects factors with elements of one type, but got ")
           << factor << " and " << types[1].getElementType();
  bool isShort = factor.isF16() || factor.isBF16();
  if (sum != factor && !(isShort && sum.isF32()))
    return op.emitOpError("expects a result of ")
           << factor << (isShort ? " or 'f32'" : "") << ", but got " << sum;
  return success();
}

namespace {
/// What the maps say about one loop.
struct LoopUse {
  /// The operands in which it stands alone, and in windows, as bits.
  unsigned alone = 0, inWindows = 0;
  int64_t extent = ShapedType::kDynamic;
};
} // namespace

using EmitError = function_ref<InFlightDiagnostic()>;

/// The most dimensions of an operand that the library's function takes.
static constexpr int64_t kMaxRank = 7;

/// Adds what operand `number` says about its loops to `uses`.
static LogicalResult addUses(EmitError emitError, ShapedType type,
                             unsigned number, AffineMap map,
                             MutableArrayRef<LoopUse> uses,
                             unsigned &numWindows) {
  if (type.getRank() > kMaxRank)
    return emitError() << "expects operands of at most " << kMaxRank
                       << " dimensions, but operand " << number << " is "
                       << type;
  if (map.getNumDims() != uses.size() || map.getNumSymbols() != 0 ||
      map.getNumResults() != static_cast<unsigned>(type.getRank()))
    return emitError() << "expects maps from the same loops to indices of each "
                          "operand, but map "
                       << number << " is " << AffineMapAttr::get(map) << " for "
                       << type;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop) {
      std::optional<ConvolveOp::Window> window = ConvolveOp::matchWindow(expr);
      if (!window)
        return emitError()
               << "expects indices that are a loop, or the sum of two "
                  "loops, each times 1 to 4095, and of a number of 32 "
                  "bits, but map "
               << number << " is " << AffineMapAttr::get(map);
      ++numWindows;
      for (unsigned other : window->loops) {
        if (uses[other].inWindows)
          return emitError() << "expects each loop in one window at most, but d"
                             << other << " is in two";
        uses[other].inWindows |= 1 << number;
      }
      continue;
    }
    LoopUse &use = uses[loop.getPosition()];
    if (use.alone & (1 << number))
      return emitError() << "expects each loop once in an operand, but d"
                         << loop.getPosition() << " stands twice in map "
                         << number;
    use.alone |= 1 << number;
    int64_t size = type.getDimSize(dim);
    if (ShapedType::isDynamic(size))
      continue;
    if (!ShapedType::isDynamic(use.extent) && use.extent != size)
      return emitError() << "expects one extent for each loop, but d"
                         << loop.getPosition() << " has " << use.extent
                         << " and " << size;
    use.extent = size;
  }
  return success();
}

/// The number of the first of `maps` that has a window.
static unsigned findImage(ArrayRef<AffineMap> maps) {
  auto image = llvm::find_if(maps, [](AffineMap map) {
    return llvm::any_of(map.getResults(), [](AffineExpr expr) {
      return ConvolveOp::matchWindow(expr).has_value();
    });
  });
  return image - maps.begin();
}

unsigned ConvolveOp::getImage() { return findImage(getMaps()); }

LogicalResult ConvolveOp::verifyMaps(EmitError emitError, TypeRange types,
                                     ArrayRef<AffineMap> maps) {
  if (maps.size() != 3 || maps[0].getNumDims() > kMaxLoops)
    return emitError() << "expects three maps of at most " << kMaxLoops
                       << " loops";
  SmallVector<LoopUse> uses(maps[0].getNumDims());
  unsigned numWindows = 0;
  for (auto [number, map] : llvm::enumerate(maps))
    if (failed(addUses(emitError, cast<ShapedType>(types[number]), number, map,
                       uses, numWindows)))
      return failure();
  if (numWindows == 0 || numWindows > kMaxWindows)
    return emitError() << "expects 1 to " << kMaxWindows << " windows, but got "
                       << numWindows;
  unsigned image = 1 << findImage(maps);
  for (auto [number, use] : llvm::enumerate(uses)) {
    if (use.inWindows & ~image)
      return emitError() << "expects windows in one operand only";
    // Two bits or three.
    bool standsInTwo = (use.alone & (use.alone - 1)) != 0;
    if (use.inWindows ? use.alone == 0 || standsInTwo || (use.alone & image)
                      : !standsInTwo)
      return emitError()
             << "expects each loop alone in two or three operands, or "
                "in the window and in one other operand, but d"
             << number << " is not";
  }
  for (AffineExpr expr : maps[findImage(maps)].getResults())
    if (std::optional<Window> window = matchWindow(expr))
      if (uses[window->loops[0]].alone == uses[window->loops[1]].alone)
        return emitError()
               << "expects one loop of each window in each of the two "
                  "other operands, but d"
               << window->loops[0] << " and d" << window->loops[1]
               << " are in one";
  return success();
}

LogicalResult ConvolveOp::verify() {
  if (failed(verifyTypes(*this)))
    return failure();
  return verifyMaps([&] { return emitOpError(); }, getOperandTypes(),
                    getMaps());
}
