//===- SelectConvolutions.cpp - Convolutions for a library ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "ConvolveInterface.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/Threading.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTCONVOLUTIONS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;
using Window = ConvolveOp::Window;

/// Products from which on the library takes less time than loops.
static constexpr int64_t kMinConvolution = 65536;

namespace {
/// What `fad.convolve` takes.
struct Convolution {
  Value operands[3];
  SmallVector<AffineMap> maps;
  /// The operation that the result is for, and the insertion point.
  Operation *op;
};
} // namespace

/// Whether `value` is a tensor of zeros.
static bool isZeros(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// Whether dimension `dimA` of `a` and dimension `dimB` of `b` have one size.
static bool areEqual(Value a, int64_t dimA, Value b, int64_t dimB) {
  FailureOr<bool> equal =
      ValueBoundsConstraintSet::areEqual({a, dimA}, {b, dimB});
  return succeeded(equal) && *equal;
}

/// `map` with `expr` as result `dim`.
static AffineMap replaceResult(AffineMap map, unsigned dim, AffineExpr expr) {
  SmallVector<AffineExpr> results(map.getResults());
  results[dim] = expr;
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

static bool hasWindow(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return ConvolveOp::matchWindow(expr).has_value();
  });
}

/// `op` if it adds products of its inputs, one of which is accessed in windows.
static std::optional<Convolution> match(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() > ConvolveOp::kMaxLoops ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
      !addsProduct(*op.getBlock()))
    return std::nullopt;
  Convolution made;
  made.op = op;
  made.maps = op.getIndexingMapsArray();
  for (unsigned i = 0; i < 3; ++i)
    made.operands[i] = op->getOperand(i);
  unsigned image = hasWindow(made.maps[0]) ? 0 : 1;
  if (!hasWindow(made.maps[image]))
    return std::nullopt;
  if (image == 1) {
    std::swap(made.operands[0], made.operands[1]);
    std::swap(made.maps[0], made.maps[1]);
  }
  return made;
}

/// Reads what a padding of the image with zeros reads.
static void foldPadding(Convolution &convolution) {
  auto pad = convolution.operands[0].getDefiningOp<tensor::PadOp>();
  if (!pad)
    return;
  Value value = pad.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_AnyZeroFloat()))
    return;
  AffineMap map = convolution.maps[0];
  for (auto [dim, low, high] :
       llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    std::optional<int64_t> before = getConstantIntValue(low);
    AffineExpr expr = map.getResult(dim);
    if (!before || (isa<AffineDimExpr>(expr) &&
                    (*before != 0 || getConstantIntValue(high) != int64_t(0))))
      return;
    map = replaceResult(map, dim, expr - *before);
  }
  convolution.operands[0] = pad.getSource();
  convolution.maps[0] = map;
}

//===----------------------------------------------------------------------===//
// Gradients with respect to the input
//===----------------------------------------------------------------------===//

/// What a reversal of a whole tensor reads: the source, and for each of its
/// dimensions the dimension of the result, and whether it is reversed.
static std::optional<std::pair<Value, SmallVector<std::pair<unsigned, bool>>>>
matchReversal(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return std::nullopt;
  auto extract = op.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<tensor::ExtractOp>();
  if (!extract)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  Value source = extract.getTensor();
  SmallVector<std::pair<unsigned, bool>> dims;
  for (auto [number, index] : llvm::enumerate(extract.getIndices())) {
    auto minus = index.getDefiningOp<arith::SubIOp>();
    auto dim =
        (minus ? minus.getRhs() : index).getDefiningOp<linalg::IndexOp>();
    if (!dim ||
        (minus && getConstantIntValue(minus.getLhs()) !=
                      type.getDimSize(dim.getDim()) - 1) ||
        !areEqual(source, number, value, dim.getDim()))
      return std::nullopt;
    dims.push_back({unsigned(dim.getDim()), bool(minus)});
  }
  llvm::SmallBitVector seen(type.getRank());
  for (auto [dim, reversed] : dims)
    seen.set(dim);
  if (!seen.all() || int64_t(dims.size()) != type.getRank())
    return std::nullopt;
  return std::pair(source, dims);
}

/// The gradient with respect to the input, if `convolution` computes it from
/// cotangents between which zeros are inserted, and a reversed filter.
static std::optional<Convolution>
matchInputGradient(const Convolution &convolution) {
  auto spread = convolution.operands[0].getDefiningOp<tensor::InsertSliceOp>();
  auto reversal = matchReversal(convolution.operands[1]);
  if (!spread || !reversal || !isZeros(spread.getDest()) ||
      spread.getSourceType().getRank() != spread.getType().getRank() ||
      hasWindow(convolution.maps[2]))
    return std::nullopt;
  auto [source, dims] = *reversal;
  AffineMap read = convolution.maps[0], window = convolution.maps[1];
  Convolution made = convolution;
  made.operands[0] = spread.getSource();
  made.operands[1] = source;
  SmallVector<AffineExpr> filter;
  llvm::SmallBitVector isReversed(read.getNumDims());
  SmallVector<int64_t> extents(read.getNumDims(), 1);
  for (auto [dim, reversed] : dims) {
    auto loop = dyn_cast<AffineDimExpr>(window.getResult(dim));
    if (!loop)
      return std::nullopt;
    filter.push_back(loop);
    int64_t size = cast<RankedTensorType>(convolution.operands[1].getType())
                       .getDimSize(dim);
    extents[loop.getPosition()] = size;
    // A single element is reversed or not.
    isReversed[loop.getPosition()] = reversed || size == 1;
  }
  MLIRContext *context = read.getContext();
  made.maps[1] = AffineMap::get(read.getNumDims(), 0, filter, context);
  for (auto [dim, expr] : llvm::enumerate(read.getResults())) {
    std::optional<int64_t> offset =
        getConstantIntValue(spread.getMixedOffsets()[dim]);
    std::optional<int64_t> stride =
        getConstantIntValue(spread.getMixedStrides()[dim]);
    if (!offset || !stride)
      return std::nullopt;
    std::optional<Window> found = ConvolveOp::matchWindow(expr);
    if (!found) {
      bool isWhole = *offset == 0 && *stride == 1 &&
                     areEqual(spread.getSource(), dim, spread.getDest(), dim);
      if (!isWhole)
        return std::nullopt;
      continue;
    }
    // The position in the result, and in the window.
    unsigned at = 0;
    std::optional<unsigned> resultDim;
    for (unsigned side : {0, 1})
      if (auto position = convolution.maps[2].getResultPosition(
              getAffineDimExpr(found->loops[side], context))) {
        at = side;
        resultDim = *position;
      }
    unsigned position = found->loops[at], inWindow = found->loops[1 - at];
    if (!resultDim || found->steps[at] != 1 || !isReversed[inWindow] ||
        ShapedType::isDynamic(extents[inWindow]))
      return std::nullopt;
    int64_t step = found->steps[1 - at];
    AffineExpr y = getAffineDimExpr(position, context);
    AffineExpr k = getAffineDimExpr(inWindow, context);
    made.maps[0] = replaceResult(made.maps[0], dim, y);
    made.maps[2] =
        replaceResult(made.maps[2], *resultDim,
                      y * *stride + k * step + *offset -
                          step * (extents[inWindow] - 1) - found->offset);
    isReversed.reset(inWindow);
  }
  // What else is reversed is no window.
  for (unsigned loop : isReversed.set_bits())
    if (extents[loop] != 1)
      return std::nullopt;
  return made;
}

/// Computes only the slice of the image that is used, if it is one slice.
static void foldSlice(RewriterBase &rewriter, Convolution &convolution) {
  Value result = convolution.op->getResult(0);
  AffineMap map = convolution.maps[2];
  if (!result.hasOneUse() || !hasWindow(map) ||
      !isZeros(convolution.operands[2]))
    return;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(*result.user_begin());
  if (!slice || slice->getBlock() != convolution.op->getBlock() ||
      !slice.hasUnitStride() ||
      slice.getType().getRank() != slice.getSourceType().getRank())
    return;
  for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    AffineExpr expr = map.getResult(dim);
    std::optional<int64_t> first = getConstantIntValue(offset);
    if (!first || (isa<AffineDimExpr>(expr) &&
                   !areEqual(slice.getResult(), dim, slice.getSource(), dim)))
      return;
    map = replaceResult(map, dim, expr - *first);
  }
  rewriter.setInsertionPoint(slice);
  Location loc = slice.getLoc();
  RankedTensorType type = slice.getType();
  Value empty = tensor::EmptyOp::create(rewriter, loc, slice.getMixedSizes(),
                                        type.getElementType());
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  convolution.operands[2] =
      linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  convolution.maps[2] = map;
  convolution.op = slice;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// Whether the filter has channels or groups, or may have: a loop beside those
/// of windows.
static bool hasChannels(linalg::LinalgOp op, ArrayRef<int64_t> ranges) {
  SmallVector<AffineMap> maps = match(op)->maps;
  llvm::SmallBitVector inWindows(op.getNumLoops());
  for (AffineExpr expr : maps[0].getResults())
    if (std::optional<Window> window = ConvolveOp::matchWindow(expr))
      for (unsigned loop : window->loops)
        inWindows.set(loop);
  return llvm::any_of(maps[1].getResults(), [&](AffineExpr expr) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    return loop && !inWindows[loop.getPosition()] &&
           ranges[loop.getPosition()] != 1;
  });
}

/// Whether the library is faster: there are many products, or may be, and
/// channels, without which they are those of a matrix and a short vector.
static bool isConvolutionFaster(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!hasChannels(op, ranges))
    return false;
  int64_t products = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range))
      return true;
    products *= range;
  }
  return products >= kMinConvolution;
}

/// Whether dimension `dim` of `value` has the size of an operand of `op` where
/// `loop` stands alone.
static bool hasExtent(linalg::LinalgOp op, Value value, int64_t dim,
                      AffineExpr loop) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    std::optional<unsigned> position =
        op.getMatchingIndexingMap(&operand).getResultPosition(loop);
    return position && areEqual(value, dim, operand.get(), *position);
  });
}

/// `op` without windows, if each has one element and together they are the
/// whole image: a product of matrices. Null for others.
static linalg::GenericOp dropWindows(RewriterBase &rewriter,
                                     linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [number, map] : llvm::enumerate(maps))
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<Window> window = ConvolveOp::matchWindow(expr);
      if (!window)
        continue;
      unsigned kept = ranges[window->loops[0]] == 1;
      AffineExpr loop = rewriter.getAffineDimExpr(window->loops[kept]);
      if (ranges[window->loops[1 - kept]] != 1 || window->steps[kept] != 1 ||
          window->offset != 0 ||
          !hasExtent(op, op->getOperand(number), dim, loop))
        return nullptr;
      map = replaceResult(map, dim, loop);
    }
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic) {
    auto made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return nullptr;
    generic = *made;
  }
  rewriter.modifyOpInPlace(generic, [&] {
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return generic;
}

static bool isValid(const Convolution &convolution) {
  Location loc = convolution.operands[0].getLoc();
  // What the verifier says is not for the user; other threads have diagnostics
  // of their own.
  ScopedDiagnosticHandler handler(
      loc.getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });
  return succeeded(ConvolveOp::verifyMaps(
      [&] { return emitError(loc); },
      ValueRange(convolution.operands).getTypes(), convolution.maps));
}

namespace {
struct SelectConvolutionsPass
    : fad::impl::FadSelectConvolutionsBase<SelectConvolutionsPass> {
  using FadSelectConvolutionsBase::FadSelectConvolutionsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FadSelectConvolutionsBase::getDependentDialects(registry);
    registerConvolveInterfaces(registry);
  }

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (match(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // A product of matrices is one for whatever computes it.
    for (linalg::LinalgOp op : ops)
      if (!dropWindows(rewriter, op) && isForLibrary(op))
        select(rewriter, op);
  }

  bool isForLibrary(linalg::LinalgOp op) {
    StringRef elements = getContractionTypes(op);
    std::string name = ("convolve_" + elements).str();
    return contractions != Contractions::loops && !elements.empty() &&
           elements != "f64" &&
           (types.empty() || llvm::is_contained(types, name)) &&
           (contractions == Contractions::library || isConvolutionFaster(op));
  }

  static void select(RewriterBase &rewriter, linalg::LinalgOp op) {
    Convolution convolution = *match(op);
    if (auto gradient = matchInputGradient(convolution))
      convolution = *gradient;
    foldPadding(convolution);
    if (!isValid(convolution))
      return;
    foldSlice(rewriter, convolution);
    rewriter.setInsertionPoint(convolution.op);
    Operation *replaced = convolution.op;
    SmallVector<Attribute> maps;
    for (AffineMap map : convolution.maps)
      maps.push_back(AffineMapAttr::get(map));
    auto made = ConvolveOp::create(
        rewriter, op.getLoc(), TypeRange(convolution.operands[2].getType()),
        ValueRange(convolution.operands),
        rewriter.getNamedAttr("indexing_maps", rewriter.getArrayAttr(maps)));
    rewriter.replaceOp(replaced, made.getResult());
    if (replaced != op)
      rewriter.eraseOp(op);
  }
};
} // namespace
