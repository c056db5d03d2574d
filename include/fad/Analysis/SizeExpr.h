//===- SizeExpr.h - Symbolic sizes ------------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_SIZEEXPR_H
#define FAD_ANALYSIS_SIZEEXPR_H

#include "fad/Analysis/SizeOrigins.h"
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace mlir {
namespace affine {
class AffineApplyOp;
} // namespace affine

namespace fad {

/// The largest number of elements of a tensor, below 2^59, so that its bytes
/// are a number of 63 bits. Sizes of 0 count as 1, so that products of some
/// sizes of a tensor without elements do not wrap, either.
constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 16;

/// Whether a tensor of the sizes `shape` has more than `kMaxElements` elements
/// for all values of its dynamic sizes.
bool hasTooManyElements(ArrayRef<int64_t> shape);

/// A sum of products of dynamic sizes, such as `12288*d0 + 3072`. Numbers
/// saturate at 2^64 - 1.
class SizeExpr {
public:
  SizeExpr(uint64_t constant = 0);
  /// The size with number `symbol` in a `SizeSymbols`.
  static SizeExpr getSymbol(unsigned symbol);

  SizeExpr &operator+=(const SizeExpr &other);
  SizeExpr &operator*=(const SizeExpr &other);

  /// Whether the expression has several terms.
  bool isSum() const { return terms.size() > 1; }
  /// The value, if no symbol occurs.
  std::optional<uint64_t> getConstant() const;
  /// Whether a number of the expression is saturated.
  bool isSaturated() const;
  /// The expression divided by `divisor`, if every coefficient is a multiple of
  /// it.
  std::optional<SizeExpr> divideExactly(uint64_t divisor) const;
  /// The expression with each symbol that `value` knows replaced by its value.
  SizeExpr
  substitute(function_ref<std::optional<uint64_t>(unsigned)> value) const;

  /// Prints each symbol by its name from `getName`.
  void print(raw_ostream &os, function_ref<StringRef(unsigned)> getName) const;

private:
  using Factors = SmallVector<unsigned, 2>;
  /// Maps sorted symbols to the coefficient of their product, which is not 0.
  std::map<Factors, uint64_t> terms;
};

/// The dynamic dimensions in which sizes are expressed. Several functions can
/// share one table: equal dimensions of equally numbered arguments are one
/// symbol.
class SizeSymbols {
public:
  struct Symbol {
    /// `d0` for a dimension of an argument, `u0` for one that is unrelated to
    /// the arguments.
    std::string name;
    /// The meaning of the name, for a legend.
    std::string description;
    /// The argument and its dimension, for `d` symbols.
    std::optional<std::pair<unsigned, unsigned>> argumentDim;
    /// Not 0 for a size that is `dividend / divisor`, rounded up, and has this
    /// as its name: bytes that hold elements of a few bits.
    uint64_t divisor = 0;
    SizeExpr dividend;
  };

  ArrayRef<Symbol> getSymbols() const { return symbols; }
  StringRef getName(unsigned symbol) const { return symbols[symbol].name; }

  /// `expr` with each symbol that `value` knows replaced by its value;
  /// quotients are computed from their parts.
  SizeExpr
  substitute(const SizeExpr &expr,
             function_ref<std::optional<uint64_t>(const Symbol &)> value) const;

  /// The size of dimension `dim` of `tensor`, a ranked tensor, in terms of the
  /// dimensions of the entry block's arguments if it follows from them.
  SizeExpr getDimSize(Value tensor, unsigned dim);

  /// Lets the sizes of `argument`, an argument of another function than that of
  /// `source`, be those of `source`.
  void bind(BlockArgument argument, Value source) {
    sources[argument] = source;
  }

  /// Clears the caches and the bindings, whose keys are addresses of values.
  /// Required between the erasure of values and further queries.
  void forgetValues() {
    origins.clear();
    known.clear();
    sources.clear();
  }

private:
  SizeExpr computeSize(Size origin);
  SizeExpr computeArgumentSize(BlockArgument argument, unsigned dim);
  SizeExpr getArgumentDim(unsigned argument, unsigned dim);
  SizeExpr getUnknownDim(Value value, std::optional<unsigned> dim);
  /// `dividend / divisor`, rounded up.
  SizeExpr getQuotient(const SizeExpr &dividend, uint64_t divisor);
  SizeExpr getIndexValue(OpFoldResult index);
  SizeExpr getAffineValue(affine::AffineApplyOp apply, AffineExpr expr);

  SmallVector<Symbol> symbols;
  /// The symbols of dimensions of arguments.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> argumentDims;
  SizeOrigins origins;
  /// The sizes of origins.
  llvm::DenseMap<Size, SizeExpr> known;
  /// The value that each bound argument stands for.
  llvm::DenseMap<Value, Value> sources;
  unsigned numUnknown = 0;
};

/// The bytes of one value of `type` in a buffer: 1 for i1, 8 for index.
/// `nullopt` if the type does not determine them.
std::optional<uint64_t> getScalarBytes(Type type);

/// The bytes of `value`, a ranked tensor or a scalar, in a buffer.
std::optional<SizeExpr> getValueBytes(Value value, SizeSymbols &symbols);

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_SIZEEXPR_H
