//===- Encoding.cpp - Residuals in few bits -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes a tensor of few different values, such as a mask, by the number of
// the value of each element, in as few bits as that takes. Bounded derivatives
// have few values after rounding, if options allow that: levels are placed on
// samples of the derivative (`placeLevels`), and elements are rounded to the
// nearest. Encoding compares with levels, or bisects among the boundaries
// between them; decoding selects by one bit after the other.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/Encoding.h"
#include "BoundedRange.h"
#include "fad/Analysis/FiniteValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Finding encodings
//===----------------------------------------------------------------------===//

int64_t Encoding::getBits() const {
  return std::max(1u, llvm::Log2_64_Ceil(levels.size()));
}

std::string Encoding::describe() const {
  std::string text = llvm::formatv("{0} bit{1} an element", getBits(),
                                   getBits() == 1 ? "" : "s");
  if (!isExact())
    llvm::raw_string_ostream(text)
        << llvm::format(", off by at most %.3g, mean square %.3g",
                        error.largest, error.meanSquare);
  return text;
}

bool Encoding::isIdentity() const {
  return llvm::all_of(llvm::enumerate(levels), [](auto level) {
    auto number = dyn_cast<IntegerAttr>(level.value());
    return number && number.getType().isInteger(8) &&
           number.getValue() == level.index();
  });
}

int64_t Encoding::countDecoding() const {
  // A word is widened and shifted by its places, and a mask leaves the code.
  constexpr int64_t kUnpacking = 5;
  if (isIdentity())
    return kUnpacking + 1;
  // A digit is masked and compared with zero, each by a constant.
  int64_t digits = getBits() == 1 ? 1 : 3 * getBits() + 1;
  // Of two halves, a selection is one; a truth value is its digit.
  int64_t levels = this->levels.size();
  bool isDigit = cast<TypedAttr>(this->levels.front()).getType().isInteger(1);
  return kUnpacking + digits + (isDigit ? 0 : 2 * levels - 1);
}

/// The encoding of bytes that are the least of a constant and other numbers, as
/// positions in a window are: the numbers themselves.
static std::optional<Encoding> findBoundedBytes(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !getElementTypeOrSelf(tensor).isInteger(8))
    return std::nullopt;
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  auto least = op.getBlock()
                   ->getTerminator()
                   ->getOperand(result)
                   .getDefiningOp<arith::MinUIOp>();
  Value out = op.getRegionOutputArgs()[result];
  auto fill = op.getDpsInits()[result].getDefiningOp<linalg::FillOp>();
  APInt greatest;
  if (!least || !llvm::is_contained(least->getOperands(), out) || !fill ||
      !matchPattern(fill.value(), m_ConstantInt(&greatest)))
    return std::nullopt;
  Encoding encoding;
  Builder builder(tensor.getContext());
  for (uint64_t number = 0; number <= greatest.getZExtValue(); ++number)
    encoding.levels.push_back(
        builder.getIntegerAttr(builder.getI8Type(), APInt(8, number)));
  return encoding.getBits() < 8 ? std::optional(encoding) : std::nullopt;
}

/// The encoding of a tensor that takes few values.
static std::optional<Encoding> findExactEncoding(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  Builder builder(tensor.getContext());
  if (type.isInteger(1))
    return Encoding{{builder.getBoolAttr(false), builder.getBoolAttr(true)}};
  if (std::optional<Encoding> bytes = findBoundedBytes(tensor))
    return bytes;
  auto op = tensor.getDefiningOp<ElementwiseOp>();
  if (!op || !type.isIntOrFloat())
    return std::nullopt;
  std::optional<SmallVector<Attribute>> levels = findFiniteValues(
      op.getYield().getOperand(cast<OpResult>(tensor).getResultNumber()));
  if (!levels)
    return std::nullopt;
  Encoding encoding{std::move(*levels)};
  return encoding.getBits() < type.getIntOrFloatBitWidth()
             ? std::optional(encoding)
             : std::nullopt;
}

/// `numbers` as constants of `type`; they are updated to the rounded values.
static SmallVector<Attribute>
makeConstants(SmallVectorImpl<double> &numbers, FloatType type,
              llvm::RoundingMode mode = llvm::RoundingMode::NearestTiesToEven) {
  SmallVector<Attribute> constants;
  for (double &number : numbers) {
    number = roundTo(type, number, mode);
    constants.push_back(FloatAttr::get(type, number));
  }
  return constants;
}

/// The error of `levels` for `range`, given their boundaries.
static QuantizationError getError(const BoundedRange &range,
                                  ArrayRef<double> levels,
                                  ArrayRef<double> boundaries) {
  QuantizationError error = {0, 0};
  for (auto [number, level] : llvm::enumerate(levels)) {
    double low = number == 0 ? range.lowest : boundaries[number - 1];
    double high =
        number == boundaries.size() ? range.highest : boundaries[number];
    error.largest = std::max({error.largest, level - low, high - level});
  }
  for (double sample : range.samples) {
    double level =
        levels[llvm::lower_bound(boundaries, sample) - boundaries.begin()];
    error.meanSquare += (sample - level) * (sample - level);
  }
  error.meanSquare /= range.samples.size();
  return error;
}

/// The encoding in `bits` bits of numbers of `type` in `range`; `nullopt` if
/// rounding to the type merges levels.
static std::optional<Encoding> makeEncoding(const BoundedRange &range,
                                            FloatType type, int64_t bits) {
  // For arguments of large magnitude the derivative is at a limit, and is
  // encoded exactly: zero derivatives pass nothing on, and derivatives of one
  // pass on all, through any number of layers. The limits take up to two
  // levels, so encodings of two levels ignore them.
  ArrayRef<double> fixed;
  if (bits > 1)
    fixed = range.limits;
  SmallVector<double> levels = placeLevels(range.samples, 1u << bits, fixed);
  Encoding encoding;
  encoding.levels = makeConstants(levels, type);
  levels.erase(llvm::unique(levels), levels.end());
  encoding.levels.erase(llvm::unique(encoding.levels), encoding.levels.end());
  if (levels.size() < 2)
    return std::nullopt;
  SmallVector<double> boundaries = getBoundaries(levels);
  // The same elements are above the number below.
  encoding.boundaries =
      makeConstants(boundaries, type, llvm::RoundingMode::TowardNegative);
  encoding.error = getError(range, levels, boundaries);
  return encoding;
}

std::optional<Encoding> Encodings::quantize(Value derivative) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(derivative));
  auto op = derivative.getDefiningOp<ElementwiseOp>();
  if (!type || !op || !op->hasAttr(FadDialect::kAdjointOfAttr))
    return std::nullopt;
  std::optional<ScalarFunction> function = ScalarFunction::get(derivative);
  if (!function)
    return std::nullopt;
  for (const Quantized &other : quantized)
    if (other.type == type && other.function.isSameAs(*function))
      return other.encoding;
  std::optional<Encoding> encoding;
  if (std::optional<BoundedRange> range = findBoundedRange(*function))
    encoding = makeEncoding(*range, type, derivativeBits);
  quantized.push_back({std::move(*function), type, encoding});
  return encoding;
}

std::optional<Encoding> Encodings::find(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return std::nullopt;
  auto [it, isNew] = encodingOf.try_emplace(tensor);
  if (!isNew)
    return it->second;
  std::optional<Encoding> encoding = findExactEncoding(tensor);
  if (!encoding && derivativeBits > 0)
    encoding = quantize(tensor);
  return encodingOf[tensor] = encoding;
}

//===----------------------------------------------------------------------===//
// Encoding and decoding
//===----------------------------------------------------------------------===//

/// Whether `element` equals `level` bit for bit, or both are NaN.
static Value isLevel(ImplicitLocOpBuilder &b, Value element, Attribute level) {
  auto number = dyn_cast<FloatAttr>(level);
  if (number && number.getValue().isNaN())
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, element,
                                 element);
  auto bits = dyn_cast<IntegerAttr>(level);
  if (number) {
    Type type = b.getIntegerType(element.getType().getIntOrFloatBitWidth());
    element = arith::BitcastOp::create(b, type, element);
    bits = b.getIntegerAttr(type, number.getValue().bitcastToAPInt());
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, element,
                               arith::ConstantOp::create(b, bits));
}

static Value createCode(ImplicitLocOpBuilder &b, unsigned number) {
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(b.getI8Type(), APInt(8, number)));
}

/// The number of the level that `element` is.
static Value findLevel(ImplicitLocOpBuilder &b, Value element,
                       ArrayRef<Attribute> levels) {
  Value code = createCode(b, levels.size() - 1);
  for (size_t number = levels.size() - 1; number-- > 0;) {
    Value chosen = createCode(b, number);
    code = arith::SelectOp::create(b, isLevel(b, element, levels[number]),
                                   chosen, code);
  }
  return code;
}

/// The entry of `table` whose number has the digits `digits`, the lowest first.
/// There is an entry for each number, or else the last are not asked for.
static Value lookUp(ImplicitLocOpBuilder &b, ArrayRef<Attribute> table,
                    ArrayRef<Value> digits) {
  SmallVector<Value> entries;
  for (Attribute entry : table)
    entries.push_back(arith::ConstantOp::create(b, cast<TypedAttr>(entry)));
  for (Value digit : digits) {
    SmallVector<Value> halves;
    for (size_t number = 0; number < entries.size(); number += 2)
      halves.push_back(number + 1 == entries.size()
                           ? entries[number]
                           : b.createOrFold<arith::SelectOp>(
                                 digit, entries[number + 1], entries[number]));
    entries = std::move(halves);
  }
  return entries.front();
}

/// The number of the level of `element`: the number of boundaries below it, by
/// bisection, one digit after the other.
static Value bisect(ImplicitLocOpBuilder &b, Value element,
                    const Encoding &encoding) {
  int64_t bits = encoding.getBits();
  // Nothing is above the boundaries that are missing.
  SmallVector<Attribute> boundaries = encoding.boundaries;
  auto type = cast<FloatType>(element.getType());
  boundaries.resize(
      (1u << bits) - 1,
      b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
  SmallVector<Value> digits;
  Value code = createCode(b, 0);
  for (unsigned digit = 1u << (bits - 1); digit > 0; digit /= 2) {
    // In the middle of each range that the digits so far may have led to.
    SmallVector<Attribute> middles;
    for (unsigned number = digit - 1; number < boundaries.size();
         number += 2 * digit)
      middles.push_back(boundaries[number]);
    Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, element,
                                        lookUp(b, middles, digits));
    Value one = createCode(b, digit), zero = createCode(b, 0);
    code = arith::OrIOp::create(b, code,
                                arith::SelectOp::create(b, above, one, zero));
    digits.insert(digits.begin(), above);
  }
  return code;
}

/// The number of the level of each element of `tensor`.
static Value buildCodes(ImplicitLocOpBuilder &b, Value tensor,
                        const Encoding &encoding) {
  if (encoding.isIdentity())
    return tensor;
  auto codes = ElementwiseOp::create(
      b, tensor, [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        Value code = encoding.isExact()
                         ? findLevel(inner, arguments[0], encoding.levels)
                         : bisect(inner, arguments[0], encoding);
        return SmallVector<Value>{code};
      });
  return codes.getResult(0);
}

Value fad::encode(OpBuilder &builder, Value tensor, const Encoding &encoding) {
  ImplicitLocOpBuilder b(tensor.getLoc(), builder);
  Value codes = buildCodes(b, tensor, encoding);
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t size =
      type.hasStaticShape()
          ? llvm::divideCeil(type.getNumElements() * encoding.getBits(), 8)
          : ShapedType::kDynamic;
  return PackOp::create(b, RankedTensorType::get(size, b.getI8Type()), codes,
                        encoding.getBits());
}

Value fad::decode(OpBuilder &builder, Location loc, Value bytes,
                  RankedTensorType type, ValueRange sizes,
                  const Encoding &encoding) {
  ImplicitLocOpBuilder b(loc, builder);
  int64_t bits = encoding.getBits();
  Value codes =
      UnpackOp::create(b, type.clone(b.getI8Type()), bytes, sizes, bits);
  if (encoding.isIdentity())
    return codes;
  auto decoded = ElementwiseOp::create(
      b, codes, [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        SmallVector<Value> digits;
        for (int64_t digit = 0; digit < bits; ++digit) {
          // A code of one bit is its digit.
          if (bits == 1) {
            digits.push_back(arith::TruncIOp::create(inner, inner.getI1Type(),
                                                     arguments[0]));
            continue;
          }
          Value code = arith::AndIOp::create(inner, arguments[0],
                                             createCode(inner, 1u << digit));
          digits.push_back(arith::CmpIOp::create(
              inner, arith::CmpIPredicate::ne, code, createCode(inner, 0)));
        }
        return SmallVector<Value>{lookUp(inner, encoding.levels, digits)};
      });
  return decoded.getResult(0);
}
