//===- SelectionOptions.h - Options of a selection --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_SELECTIONOPTIONS_H
#define FAD_TRANSFORMS_RESIDUALS_SELECTIONOPTIONS_H

#include "fad/Analysis/OptionParsers.h"
#include "fad/Analysis/TargetTimes.h"
#include "fad/IR/Fad.h"

namespace mlir::fad {

/// The options of a selection of residuals; `WithSelectionOptions` describes
/// each of them. All but the policy, the target and the assumed size are for
/// the policy `auto`.
struct SelectionOptions {
  Policy policy = Policy::automatic;
  RecomputeLevel recompute = RecomputeLevel::elementwise;
  Target target = Target::cpu;
  int64_t assumedSize = 128;
  int64_t derivativeBits = 0;
  bool derivativeFromOutput = false;
  int64_t residualBudget = -1;
  int64_t peakBudget = -1;
  /// With a `peakBudget`, a bound besides: a part of the peak of the fastest
  /// selection.
  double peakFraction = 1.0;
  /// With a `peakBudget`, the lowest peak within it of the selections that take
  /// at most so many times as long as the fastest; 0 for the least time.
  double slowdown = 0;
  /// On a GPU, the number of the proposal of the function that is to be taken
  /// as it is, with a `peakBudget`, if it can be made; -1 for a choice among
  /// all.
  int64_t proposal = -1;
  /// On a GPU, the time that the launch of a kernel takes, in the units of
  /// `OperationTimes`.
  int64_t launchTime = 0;
};

/// The bytes in `text`: a number, and a unit such as `GB` (1000 MB) or `GiB`
/// (1024 MiB), of which `G` is the short form, in capitals or not; without a
/// unit, bytes. `nullopt` for any other text, and for less than a byte that is
/// not 0.
std::optional<uint64_t> parseBytes(StringRef text);

/// Why `text` is no number of bytes: the end of a sentence about it.
std::string explainBytes(StringRef text);

/// The parser of an option that is a number of bytes, or -1 for none.
struct BytesParser : llvm::cl::parser<long long> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, StringRef, StringRef text,
             long long &bytes);
  StringRef getValueName() const override { return "bytes"; }
};

inline raw_ostream &operator<<(raw_ostream &os, Target target) {
  return os << (target == Target::cpu ? "cpu" : "gpu");
}

inline llvm::cl::ValuesClass getPolicyValues() {
  return llvm::cl::values(
      clEnumValN(Policy::bp, "bp", "What a tape saves"),
      clEnumValN(Policy::recompute, "recompute", "Sources of regions"),
      clEnumValN(Policy::fad, "fad", "Derivatives of regions"),
      clEnumValN(Policy::automatic, "auto",
                 "Whatever takes the fewest bytes, then the least time"));
}

/// Adds the options of `SelectionOptions` to `Base`, which is a pass, or the
/// options of a pipeline.
template <typename Base> struct WithSelectionOptions : Base {
  template <typename T, typename... Parser>
  using Option = typename Base::template Option<T, Parser...>;

  using Base::Base;
  WithSelectionOptions() = default;
  WithSelectionOptions(const WithSelectionOptions &other) : Base(other) {}

  SelectionOptions getSelection() const {
    return {policy,         recompute,      target,
            assumedSize,    derivativeBits, derivativeFromOutput,
            residualBudget, peakBudget};
  }
  void setSelection(const SelectionOptions &options) {
    policy = options.policy;
    recompute = options.recompute;
    target = options.target;
    assumedSize = options.assumedSize;
    derivativeBits = options.derivativeBits;
    derivativeFromOutput = options.derivativeFromOutput;
    residualBudget = options.residualBudget;
    peakBudget = options.peakBudget;
  }

  Option<Policy, NamedParser<Policy>> policy{
      *this, "policy", llvm::cl::desc("What crosses from forward to backward"),
      llvm::cl::init(SelectionOptions().policy), getPolicyValues()};
  Option<RecomputeLevel, NamedParser<RecomputeLevel>> recompute{
      *this, "recompute",
      llvm::cl::desc("What backward may compute again under the policy auto"),
      llvm::cl::init(SelectionOptions().recompute),
      llvm::cl::values(
          clEnumValN(RecomputeLevel::nothing, "nothing",
                     "What holds no data: constants, views, masks from a seed"),
          clEnumValN(RecomputeLevel::elementwise, "elementwise",
                     "And elementwise operations, broadcasts, slices"),
          clEnumValN(RecomputeLevel::reductions, "reductions",
                     "And reductions, and so normalizations"),
          clEnumValN(RecomputeLevel::all, "all",
                     "Everything but contractions and convolutions"),
          clEnumValN(RecomputeLevel::contractions, "contractions",
                     "And contractions and convolutions"))};
  Option<Target, NamedParser<Target>> target{
      *this, "target",
      llvm::cl::desc("The machine whose times decide between equal bytes"),
      llvm::cl::init(SelectionOptions().target),
      llvm::cl::values(clEnumValN(Target::cpu, "cpu", "A core of a CPU"),
                       clEnumValN(Target::gpu, "gpu", "A GPU"))};
  Option<int64_t, IntegerParser<int64_t>> assumedSize{
      *this, "assumed-size",
      llvm::cl::desc("What the policy auto takes for a size that is known only "
                     "when the program runs"),
      llvm::cl::init(SelectionOptions().assumedSize)};
  Option<int64_t, IntegerParser<int64_t>> derivativeBits{
      *this, "derivative-bits",
      llvm::cl::desc("Bits an element that the policy auto may round bounded "
                     "derivatives to, 1 to 8; 0: derivatives are exact"),
      llvm::cl::init(SelectionOptions().derivativeBits)};
  Option<bool, BoolParser> derivativeFromOutput{
      *this, "derivative-from-output",
      llvm::cl::desc("Let the policy auto compute the derivative of an "
                     "activation with one minimum approximately, from the "
                     "result and one bit an element: the side of the minimum"),
      llvm::cl::init(SelectionOptions().derivativeFromOutput)};
  Option<long long, BytesParser> residualBudget{
      *this, "residual-budget",
      llvm::cl::desc("Bytes, such as 50MB or 1.5GiB, that residuals may take "
                     "under the policy auto, which takes the least time within "
                     "them; -1: the fewest bytes"),
      llvm::cl::init(SelectionOptions().residualBudget)};
  Option<long long, BytesParser> peakBudget{
      *this, "peak-budget",
      llvm::cl::desc(
          "Bytes, such as 2GB, that forward and backward may take at "
          "once besides arguments under the policy auto, which takes "
          "the least time within them; -1: no limit"),
      llvm::cl::init(SelectionOptions().peakBudget)};
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_SELECTIONOPTIONS_H
