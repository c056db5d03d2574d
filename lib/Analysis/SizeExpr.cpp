//===- SizeExpr.cpp - Symbolic sizes --------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SizeExpr.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

bool fad::hasTooManyElements(ArrayRef<int64_t> shape) {
  int64_t left = kMaxElements;
  for (int64_t size : shape)
    if (size > 0)
      left /= size;
  return left == 0;
}

//===----------------------------------------------------------------------===//
// SizeExpr
//===----------------------------------------------------------------------===//

SizeExpr::SizeExpr(uint64_t constant) {
  if (constant)
    terms[{}] = constant;
}

SizeExpr SizeExpr::getSymbol(unsigned symbol) {
  SizeExpr result;
  result.terms[{symbol}] = 1;
  return result;
}

SizeExpr &SizeExpr::operator+=(const SizeExpr &other) {
  for (const auto &[factors, coefficient] : other.terms)
    terms[factors] = llvm::SaturatingAdd(terms[factors], coefficient);
  return *this;
}

SizeExpr &SizeExpr::operator*=(const SizeExpr &other) {
  std::map<Factors, uint64_t> product;
  for (const auto &[lhsFactors, lhs] : terms) {
    for (const auto &[rhsFactors, rhs] : other.terms) {
      Factors factors = lhsFactors;
      factors.append(rhsFactors);
      llvm::sort(factors);
      uint64_t &coefficient = product[factors];
      coefficient = llvm::SaturatingMultiplyAdd(lhs, rhs, coefficient);
    }
  }
  terms = std::move(product);
  return *this;
}

std::optional<uint64_t> SizeExpr::getConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

bool SizeExpr::isSaturated() const {
  return llvm::any_of(terms, [](const auto &term) {
    return term.second == std::numeric_limits<uint64_t>::max();
  });
}

std::optional<SizeExpr> SizeExpr::divideExactly(uint64_t divisor) const {
  SizeExpr result = *this;
  for (auto &[factors, coefficient] : result.terms) {
    if (coefficient % divisor != 0)
      return std::nullopt;
    coefficient /= divisor;
  }
  return result;
}

SizeExpr SizeExpr::substitute(
    function_ref<std::optional<uint64_t>(unsigned)> value) const {
  SizeExpr result;
  for (const auto &[factors, coefficient] : terms) {
    SizeExpr term(coefficient);
    for (unsigned symbol : factors) {
      std::optional<uint64_t> number = value(symbol);
      term *= number ? SizeExpr(*number) : getSymbol(symbol);
    }
    result += term;
  }
  return result;
}

void SizeExpr::print(raw_ostream &os,
                     function_ref<StringRef(unsigned)> getName) const {
  if (terms.empty()) {
    os << 0;
    return;
  }
  // The term with most symbols first: `12288*d0 + 3072`.
  llvm::interleave(
      llvm::reverse(terms), os,
      [&](const auto &term) {
        const auto &[factors, coefficient] = term;
        if (coefficient != 1 || factors.empty())
          os << coefficient << (factors.empty() ? "" : "*");
        llvm::interleave(
            factors, os, [&](unsigned symbol) { os << getName(symbol); }, "*");
      },
      " + ");
}

//===----------------------------------------------------------------------===//
// SizeSymbols
//===----------------------------------------------------------------------===//

SizeExpr SizeSymbols::getArgumentDim(unsigned argument, unsigned dim) {
  std::pair<unsigned, unsigned> key(argument, dim);
  auto [it, isNew] = argumentDims.try_emplace(key, symbols.size());
  if (isNew) {
    std::string name = llvm::formatv("d{0}", argumentDims.size() - 1);
    std::string description =
        llvm::formatv("dimension {0} of argument {1}", dim, argument);
    symbols.push_back({name, description, key, 0, {}});
  }
  return SizeExpr::getSymbol(it->second);
}

SizeExpr SizeSymbols::getUnknownDim(Value value, std::optional<unsigned> dim) {
  std::string description;
  llvm::raw_string_ostream os(description);
  if (dim)
    os << "dimension " << *dim << " of ";
  if (Operation *op = value.getDefiningOp())
    os << "the result of " << op->getName() << " at " << op->getLoc();
  else
    os << "a block argument at " << value.getLoc();
  unsigned number = symbols.size();
  std::string name = llvm::formatv("u{0}", numUnknown++);
  symbols.push_back({name, description, std::nullopt, 0, {}});
  return SizeExpr::getSymbol(number);
}

SizeExpr SizeSymbols::getQuotient(const SizeExpr &dividend, uint64_t divisor) {
  if (std::optional<uint64_t> constant = dividend.getConstant())
    return llvm::divideCeil(*constant, divisor);
  if (std::optional<SizeExpr> quotient = dividend.divideExactly(divisor))
    return *quotient;
  std::string name;
  llvm::raw_string_ostream os(name);
  bool isSum = dividend.isSum();
  os << "ceil(" << (isSum ? "(" : "");
  dividend.print(os, [&](unsigned symbol) { return getName(symbol); });
  os << (isSum ? ")" : "") << "/" << divisor << ")";
  for (auto [number, symbol] : llvm::enumerate(symbols))
    if (symbol.name == name)
      return SizeExpr::getSymbol(number);
  symbols.push_back({name, name, std::nullopt, divisor, dividend});
  return SizeExpr::getSymbol(symbols.size() - 1);
}

SizeExpr SizeSymbols::substitute(
    const SizeExpr &expr,
    function_ref<std::optional<uint64_t>(const Symbol &)> value) const {
  return expr.substitute([&](unsigned number) -> std::optional<uint64_t> {
    const Symbol &symbol = symbols[number];
    if (symbol.divisor == 0)
      return value(symbol);
    // The dividend consists of earlier symbols, so the recursion ends.
    std::optional<uint64_t> dividend =
        substitute(symbol.dividend, value).getConstant();
    if (!dividend)
      return std::nullopt;
    return llvm::divideCeil(*dividend, symbol.divisor);
  });
}

SizeExpr SizeSymbols::getIndexValue(OpFoldResult index) {
  auto [value, dim] = asSize(index);
  if (!value)
    return dim;
  if (dim != kIndex)
    return getDimSize(value, dim);
  if (Value source = sources.lookup(value))
    return getIndexValue(source);
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    SizeExpr result = getIndexValue(add.getLhs());
    result += getIndexValue(add.getRhs());
    return result;
  }
  if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
    SizeExpr result = getIndexValue(mul.getLhs());
    result *= getIndexValue(mul.getRhs());
    return result;
  }
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>())
    return getAffineValue(apply, apply.getAffineMap().getResult(0));
  return getUnknownDim(value, std::nullopt);
}

SizeExpr SizeSymbols::getAffineValue(affine::AffineApplyOp apply,
                                     AffineExpr expr) {
  unsigned numDims = apply.getAffineMap().getNumDims();
  switch (expr.getKind()) {
  case AffineExprKind::DimId:
    return getIndexValue(
        apply.getOperand(cast<AffineDimExpr>(expr).getPosition()));
  case AffineExprKind::SymbolId:
    return getIndexValue(
        apply.getOperand(numDims + cast<AffineSymbolExpr>(expr).getPosition()));
  case AffineExprKind::Constant:
    if (int64_t constant = cast<AffineConstantExpr>(expr).getValue();
        constant >= 0)
      return constant;
    break;
  case AffineExprKind::Add:
  case AffineExprKind::Mul: {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    SizeExpr result = getAffineValue(apply, binary.getLHS());
    SizeExpr rhs = getAffineValue(apply, binary.getRHS());
    // A sum of many sizes is deep: copies of its terms would take quadratic
    // time.
    if (expr.getKind() == AffineExprKind::Add)
      result += rhs;
    else
      result *= rhs;
    return result;
  }
  case AffineExprKind::CeilDiv: {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
        divisor && divisor.getValue() > 0)
      return getQuotient(getAffineValue(apply, binary.getLHS()),
                         divisor.getValue());
    break;
  }
  default:
    break;
  }
  return getUnknownDim(apply, std::nullopt);
}

SizeExpr SizeSymbols::getDimSize(Value tensor, unsigned dim) {
  Size origin = origins.find({tensor, dim});
  if (auto it = known.find(origin); it != known.end())
    return it->second;
  SizeExpr size = computeSize(origin);
  return known.try_emplace(origin, size).first->second;
}

SizeExpr SizeSymbols::computeArgumentSize(BlockArgument argument,
                                          unsigned dim) {
  Block *block = argument.getOwner();
  if (isa<FunctionOpInterface>(block->getParentOp()) && block->isEntryBlock())
    return getArgumentDim(argument.getArgNumber(), dim);
  // A value that a loop carries may keep the sizes that it begins with.
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
    if (areEqual({loop.getTiedLoopYieldedValue(argument)->get(), dim},
                 {argument, dim}))
      return getDimSize(init->get(), dim);
  return getUnknownDim(argument, dim);
}

SizeExpr SizeSymbols::computeSize(Size origin) {
  auto [value, dim] = origin;
  if (!value)
    return dim;
  if (dim == kIndex)
    return getIndexValue(value);
  if (Value source = sources.lookup(value))
    return getDimSize(source, dim);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgumentSize(argument, dim);
  std::optional<SizeExpr> size;
  visitReified(origin, [&](OpFoldResult reified) {
    if (asSize(reified) != origin)
      size = getIndexValue(reified);
  });
  return size ? *size : getUnknownDim(value, dim);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

std::optional<uint64_t> fad::getScalarBytes(Type type) {
  return TypeSwitch<Type, std::optional<uint64_t>>(type)
      .Case<IntegerType, FloatType>([](auto type) {
        return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
      })
      .Case([](IndexType) { return 8; })
      .Case([](ComplexType type) -> std::optional<uint64_t> {
        std::optional<uint64_t> part = getScalarBytes(type.getElementType());
        return part ? std::optional(2 * *part) : std::nullopt;
      })
      .Case([](VectorType type) -> std::optional<uint64_t> {
        std::optional<uint64_t> element = getScalarBytes(type.getElementType());
        if (!element || type.isScalable())
          return std::nullopt;
        return llvm::SaturatingMultiply<uint64_t>(*element,
                                                  type.getNumElements());
      })
      .Default(std::nullopt);
}

std::optional<SizeExpr> fad::getValueBytes(Value value, SizeSymbols &symbols) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor) {
    std::optional<uint64_t> bytes = getScalarBytes(value.getType());
    return bytes ? std::optional<SizeExpr>(*bytes) : std::nullopt;
  }
  std::optional<uint64_t> element = getScalarBytes(tensor.getElementType());
  if (!element)
    return std::nullopt;
  SizeExpr bytes(*element);
  for (unsigned dim = 0, rank = tensor.getRank(); dim < rank; ++dim)
    bytes *= symbols.getDimSize(value, dim);
  return bytes;
}
