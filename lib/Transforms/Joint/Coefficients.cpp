//===- Coefficients.cpp - Cotangents times coefficients -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "LinearTerms.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/Linearity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Rewrites one linear region.
class Factorer {
public:
  Factorer(RewriterBase &rewriter, const LinearRegion &region,
           const Linearity &linearity)
      : rewriter(rewriter), region(region), sink(region.back()),
        terms(region, linearity),
        type(cast<RankedTensorType>(sink->getResult(0).getType())) {}

  void run();

private:
  /// Decides whether the coefficient `value` of `source` becomes a tensor, and
  /// collects its operands.
  void classify(Value value, unsigned source);
  /// Whether tensors for the coefficients take no more bytes than their
  /// operands.
  bool pays() const;
  /// Whether the operand `index` has an element for each of the results.
  bool isFull(unsigned index) const;
  /// The operand `index` in the shape of the results, without cotangents.
  Value expand(unsigned index);
  /// The sizes of the results, from `tensor`, which has their shape.
  SmallVector<Value> makeSizes(Value tensor);
  /// Sets the insertion point to the first place that all operands of the
  /// coefficients dominate.
  void setInsertionPoint();
  void buildCoefficients();
  void buildProducts();
  /// The sums of the products, as scalars of the block `body`.
  SmallVector<Value> sumProducts(Block &body);
  Operation *buildGeneric(std::unique_ptr<Block> body, ValueRange operands,
                          ArrayRef<AffineMap> maps, ValueRange yielded);

  RewriterBase &rewriter;
  const LinearRegion &region;
  Operation *sink;
  LinearTerms terms;
  RankedTensorType type;
  /// The coefficients that become tensors, with their sources.
  SmallVector<std::pair<Value, unsigned>> kept;
  /// The tensors of `kept`, once they are built.
  SmallVector<Value> tensors;
  /// The operands of the coefficients in `kept`.
  llvm::SetVector<unsigned> needed;
};
} // namespace

//===----------------------------------------------------------------------===//
// Profitability
//===----------------------------------------------------------------------===//

bool Factorer::isFull(unsigned index) const {
  const Read &read = terms.getInputs()[index];
  if (!isa<RankedTensorType>(read.value.getType()))
    return false;
  for (auto [loop, size] : llvm::enumerate(type.getShape()))
    if (size != 1 && !read.map.isFunctionOfDim(loop))
      return false;
  return true;
}

void Factorer::classify(Value value, unsigned source) {
  llvm::SetVector<Value> backwardSlice;
  backwardSlice.insert(value);
  bool isCheap = true;
  llvm::SetVector<unsigned> inputs;
  unsigned numFull = 0;
  bool hasShape = false;
  for (unsigned next = 0; next < backwardSlice.size(); ++next) {
    Value current = backwardSlice[next];
    Operation *def = current.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(current)) {
      unsigned index = argument.getArgNumber();
      inputs.insert(index);
      const Read &read = terms.getInputs()[index];
      numFull += isFull(index) && !matchPattern(read.value, m_Constant());
      hasShape |= isFull(index) && read.map.isIdentity();
      continue;
    }
    if (def->getBlock() != &terms.getBody())
      continue;
    isCheap &=
        isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(
            def);
    backwardSlice.insert(def->operand_begin(), def->operand_end());
  }
  if (numFull == 0 || !hasShape || (isCheap && numFull == 1))
    return;
  if (!llvm::is_contained(kept, std::pair(value, source)))
    kept.emplace_back(value, source);
  needed.insert(inputs.begin(), inputs.end());
}

bool Factorer::pays() const {
  unsigned keptBits = 0, readBits = 0;
  for (auto [value, source] : kept)
    keptBits += getElementTypeOrSelf(terms.getSources()[source].value)
                    .getIntOrFloatBitWidth();
  llvm::SmallDenseSet<Value> counted;
  for (unsigned index : needed) {
    Value operand = terms.getInputs()[index].value;
    if (!isFull(index) || matchPattern(operand, m_Constant()) ||
        !counted.insert(operand).second)
      continue;
    Type element = getElementTypeOrSelf(operand);
    readBits += element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  }
  return keptBits <= readBits;
}

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

SmallVector<Value> Factorer::makeSizes(Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(
          tensor::DimOp::create(rewriter, sink->getLoc(), tensor, dim));
  return sizes;
}

void Factorer::setInsertionPoint() {
  Block *block = sink->getBlock();
  Operation *last = nullptr;
  auto consider = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == block &&
        (!last || last->isBeforeInBlock(def)))
      last = def;
  };
  for (unsigned index : needed)
    consider(terms.getInputs()[index].value);
  for (Operation &op : terms.getBody())
    llvm::for_each(op.getOperands(), consider);
  if (last)
    rewriter.setInsertionPointAfter(last);
  else
    rewriter.setInsertionPointToStart(block);
}

Value Factorer::expand(unsigned index) {
  const Read &read = terms.getInputs()[index];
  auto from = dyn_cast<RankedTensorType>(read.value.getType());
  if (!from || read.map.isIdentity())
    return read.value;
  Location loc = sink->getLoc();
  if (from.getRank() == 0)
    return tensor::ExtractOp::create(rewriter, loc, read.value);
  Value shape;
  for (unsigned other : needed)
    if (isFull(other) && terms.getInputs()[other].map.isIdentity())
      shape = terms.getInputs()[other].value;
  auto to = type.clone(from.getElementType());
  Value empty = tensor::EmptyOp::create(rewriter, loc, to, makeSizes(shape));
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      rewriter, loc, to, read.value, empty, ArrayRef{read.map, identity},
      iterators, [](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, arguments[0]);
      });
  return copy.getResult(0);
}

/// The name of the forward operation that the coefficient of elementwise values
/// of `tensor` belongs to.
static StringRef describePrimal(ElementwiseOp coefficient) {
  for (Operation *user : coefficient.getShapeOperand().getUsers())
    if (auto primal = dyn_cast<ElementwiseOp>(user);
        primal && primal != coefficient &&
        !primal->hasAttr(FadDialect::kAdjointOfAttr))
      return describe(primal);
  return describe(coefficient);
}

void Factorer::buildCoefficients() {
  OpBuilder::InsertionGuard guard(rewriter);
  setInsertionPoint();
  auto body = std::make_unique<Block>();
  SmallVector<Value> operands;
  IRMapping mapping;
  for (auto [index, read] : llvm::enumerate(terms.getInputs())) {
    // Other inputs may not dominate the coefficients.
    if (!needed.contains(index))
      continue;
    operands.push_back(expand(index));
    mapping.map(terms.getBody().getArgument(index),
                body->addArgument(getElementTypeOrSelf(read.value),
                                  read.value.getLoc()));
  }
  OpBuilder inside = appendTo(*body, rewriter.getContext());
  for (Operation &op : terms.getBody())
    if (llvm::all_of(op.getOperands(), [&](Value v) {
          return v.getParentBlock() != &terms.getBody() || mapping.contains(v);
        }))
      inside.clone(op, mapping);
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (auto [value, source] : kept) {
    // One rounding, to the type of the cotangent.
    Type element = getElementTypeOrSelf(terms.getSources()[source].value);
    ExprBuilder eb(inside, sink->getLoc(), element);
    yielded.push_back(
        convert(Expr(eb, mapping.lookup(value)), element).getValue());
    types.push_back(type.clone(element));
  }
  ElementwiseOp built = buildElementwise(rewriter, sink->getLoc(), types,
                                         std::move(body), operands, yielded);
  simplifyBody(rewriter, built);
  built->setAttr(FadDialect::kAdjointOfAttr,
                 rewriter.getStringAttr(describePrimal(built)));
  tensors = SmallVector<Value>(built.getResults());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether `value` contains a selection between numbers with a zero branch.
static bool choosesZero(Value value) {
  llvm::SetVector<Value> choices;
  choices.insert(value);
  for (unsigned next = 0; next < choices.size(); ++next) {
    if (matchPattern(choices[next], m_AnyZeroFloat()))
      return true;
    if (auto select = choices[next].getDefiningOp<arith::SelectOp>()) {
      choices.insert(select.getTrueValue());
      choices.insert(select.getFalseValue());
    }
  }
  return false;
}

SmallVector<Value> Factorer::sumProducts(Block &body) {
  ArrayRef<Read> sources = terms.getSources(), inputs = terms.getInputs();
  OpBuilder inside = appendTo(body, rewriter.getContext());
  SmallVector<Value> cotangents;
  for (const Read &read : sources)
    cotangents.push_back(body.addArgument(getElementTypeOrSelf(read.value),
                                          read.value.getLoc()));
  IRMapping mapping;
  for (auto [read, argument] :
       llvm::zip(inputs, terms.getBody().getArguments()))
    mapping.map(argument,
                body.addArgument(argument.getType(), read.value.getLoc()));
  SmallVector<Value> arguments;
  for (Value tensor : tensors)
    arguments.push_back(
        body.addArgument(getElementTypeOrSelf(tensor), tensor.getLoc()));
  for (Operation &op : terms.getBody())
    inside.clone(op, mapping);

  SmallVector<Value> sums;
  for (Value result : sink->getResults()) {
    Type element = getElementTypeOrSelf(result);
    Type wide = terms.getProductType(result);
    ExprBuilder eb(inside, sink->getLoc(), wide);
    Expr sum;
    for (auto &[source, coefficient] : terms.get(result)) {
      Expr cotangent = convert(Expr(eb, cotangents[source]), wide);
      Value value = coefficient.getValue();
      auto *it = llvm::find(kept, std::pair(value, source));
      Expr term;
      if (!value) {
        term = cotangent * coefficient;
      } else if (it == kept.end()) {
        term = tangentProduct(cotangent,
                              convert(Expr(eb, mapping.lookup(value)), wide));
      } else {
        Expr factor =
            convert(Expr(eb, arguments[std::distance(kept.begin(), it)]), wide);
        term = cotangent * factor;
        // A selected zero stays zero for every cotangent.
        if (choosesZero(value))
          term = select(equal(factor, 0), 0, term);
      }
      sum = sum ? sum + term : term;
    }
    sum = convert(sum ? sum : Expr(0), element);
    sums.push_back(sum.materialize(eb, element));
  }
  return sums;
}

Operation *Factorer::buildGeneric(std::unique_ptr<Block> body,
                                  ValueRange operands, ArrayRef<AffineMap> maps,
                                  ValueRange yielded) {
  Location loc = sink->getLoc();
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> allMaps;
  llvm::BitVector dropped(operands.size());
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (body->getArgument(index).use_empty()) {
      dropped.set(index);
      continue;
    }
    inputs.push_back(operand);
    allMaps.push_back(maps[index]);
  }
  body->eraseArguments(dropped);
  if (auto region = dyn_cast<ElementwiseOp>(sink)) {
    SmallVector<Value> sizes = makeSizes(region.getShapeOperand());
    for (Type result : sink->getResultTypes())
      inits.push_back(tensor::EmptyOp::create(rewriter, loc, result, sizes));
  } else {
    inits = SmallVector<Value>(cast<linalg::GenericOp>(sink).getOutputs());
  }
  for (Value init : inits) {
    body->addArgument(getElementTypeOrSelf(init), loc);
    allMaps.push_back(rewriter.getMultiDimIdentityMap(type.getRank()));
  }
  OpBuilder inside = appendTo(*body, rewriter.getContext());
  linalg::YieldOp::create(inside, loc, yielded);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(rewriter, loc, sink->getResultTypes(),
                                      inputs, inits, allMaps, iterators);
  op.getRegion().push_back(body.release());
  return op;
}

void Factorer::buildProducts() {
  rewriter.setInsertionPoint(sink);
  auto body = std::make_unique<Block>();
  SmallVector<Value> yielded = sumProducts(*body);
  eraseDeadOps(*body, yielded);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (ArrayRef<Read> reads : {terms.getSources(), terms.getInputs()}) {
    for (const Read &read : reads) {
      operands.push_back(read.value);
      maps.push_back(read.map);
    }
  }
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  operands.append(tensors);
  maps.append(tensors.size(), identity);
  bool isElementwise = true;
  for (auto [argument, operand, map] :
       llvm::zip_equal(body->getArguments(), operands, maps))
    isElementwise &= argument.use_empty() ||
                     !isa<RankedTensorType>(operand.getType()) ||
                     map.isIdentity();
  Operation *product =
      isElementwise
          ? buildElementwise(rewriter, sink->getLoc(), sink->getResultTypes(),
                             std::move(body), operands, yielded)
          : buildGeneric(std::move(body), operands, maps, yielded);
  rewriter.replaceOp(sink, product);
  for (Operation *op : llvm::reverse(ArrayRef(region).drop_back()))
    rewriter.eraseOp(op);
}

void Factorer::run() {
  for (Value result : sink->getResults())
    for (auto &[source, coefficient] : terms.get(result))
      if (Value value = coefficient.getValue())
        classify(value, source);
  if (kept.empty() || !pays())
    return;
  buildCoefficients();
  buildProducts();
}

void fad::factorRegion(RewriterBase &rewriter, const LinearRegion &region,
                       const Linearity &linearity) {
  Factorer(rewriter, region, linearity).run();
}
