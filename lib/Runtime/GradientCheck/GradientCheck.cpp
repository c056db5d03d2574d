//===- GradientCheck.cpp - Gradients against finite differences -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/GradientCheck.h"
#include "Differences.h"
#include "fad/Runtime/Passes.h"
#include "fad/Runtime/Random.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Checks gradients of one function at one point.
class GradientChecker {
public:
  /// `given` is the pair of `module` if it runs on the host.
  static FailureOr<GradientChecker> create(ModuleOp module,
                                           const NestOptions &options,
                                           const NestedFunction *given);

  llvm::Error setPoint(ArrayRef<HostTensor> arguments,
                       ArrayRef<HostTensor> cotangents);
  llvm::Expected<GradientCheck> check(const Gradient &gradient,
                                      size_t position);

private:
  /// Calls the function in its initial state, so that all calls have the same
  /// random masks.
  llvm::Expected<SmallVector<HostTensor>>
  callForward(ArrayRef<HostTensor> at) const {
    forward.resetGlobals();
    return forward.call(name, at);
  }

  GradientChecker(std::string name, CompiledModule forward,
                  const NestedFunction *given)
      : name(std::move(name)), forward(std::move(forward)), given(given) {}

  const NestedFunction &getNested() const { return own ? *own : *given; }

  /// Says of `gradient`, `numInfinite` elements of which are not finite, where
  /// and what the first one is, and what differences say.
  llvm::Expected<std::string> describeInfinite(const HostTensor &gradient,
                                               int64_t numInfinite,
                                               unsigned argument) const;
  /// Fails if the forward function computes other results.
  llvm::Error checkResults(const ForwardResults &values);
  /// Compares with differences, along directions that fit the size.
  llvm::Error checkDifferences(const HostTensor &gradient,
                               const HostTensor &signs, GradientCheck &result);
  /// Compares `given`, of any type, with `gradient`.
  void checkType(const Gradient &given, const HostTensor &gradient,
                 const HostTensor &signs, GradientCheck &result);

  /// The function and its pair, both in f64: a new one, or the given one.
  std::string name;
  CompiledModule forward;
  std::optional<NestedFunction> own;
  const NestedFunction *given;

  SmallVector<HostTensor> arguments;
  std::optional<WeightedFunction> function;
  /// Where a result of the function is NaN, so that all differences are.
  std::string undefinedResult;
  /// For the given cotangents, and for those with random signs.
  SmallVector<Gradient> gradients, signGradients;
};
} // namespace

FailureOr<GradientChecker>
GradientChecker::create(ModuleOp module, const NestOptions &options,
                        const NestedFunction *given) {
  OwningOpRef<ModuleOp> promoted = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(createFadPromote());
  if (failed(pm.run(*promoted)))
    return failure();
  auto functions = promoted->getOps<func::FuncOp>();
  auto entry =
      llvm::find_if(functions, [](func::FuncOp f) { return f.isPublic(); });
  std::string name = (*entry).getSymName().str();
  // Compiling takes most of the time, and a second pair would be the same.
  bool isWide = OperationEquivalence::isEquivalentTo(
      *promoted, module, OperationEquivalence::IgnoreLocations);
  OwningOpRef<ModuleOp> copy = promoted->clone();
  CompileOptions compilation;
  compilation.quickly = true;
  FailureOr<CompiledModule> forward =
      CompiledModule::compile(*promoted, compilation);
  if (failed(forward))
    return failure();
  GradientChecker checker(std::move(name), std::move(*forward), given);
  if (isWide && given)
    return checker;
  FailureOr<NestedFunction> nested =
      NestedFunction::compile(*copy, options, compilation);
  if (failed(nested))
    return failure();
  checker.own = std::move(*nested);
  return checker;
}

/// Copies of `tensors` with floats in f64.
static llvm::Expected<SmallVector<HostTensor>>
widen(ArrayRef<HostTensor> tensors) {
  SmallVector<HostTensor> wide;
  for (const HostTensor &tensor : tensors) {
    auto copy =
        tensor.convertFloats(Float64Type::get(tensor.getType().getContext()));
    if (!copy)
      return copy.takeError();
    wide.push_back(*copy);
  }
  return wide;
}

llvm::Error GradientChecker::setPoint(ArrayRef<HostTensor> narrowArguments,
                                      ArrayRef<HostTensor> narrowCotangents) {
  auto wideArguments = widen(narrowArguments);
  if (!wideArguments)
    return wideArguments.takeError();
  auto cotangents = widen(narrowCotangents);
  if (!cotangents)
    return cotangents.takeError();
  auto signCotangents = widen(narrowCotangents);
  if (!signCotangents)
    return signCotangents.takeError();
  Random random(0);
  for (const HostTensor &cotangent : *signCotangents)
    for (double &element : cotangent.getF64())
      if (random.next() & 1)
        element = -element;

  arguments = std::move(*wideArguments);
  const NestedFunction &nested = getNested();
  nested.resetGlobals();
  auto values = nested.forward(arguments);
  if (!values)
    return values.takeError();
  auto backward = nested.backward(*values, *cotangents);
  if (!backward)
    return backward.takeError();
  auto signBackward = nested.backward(*values, *signCotangents);
  if (!signBackward)
    return signBackward.takeError();
  gradients = std::move(*backward);
  signGradients = std::move(*signBackward);
  auto call = [this](ArrayRef<HostTensor> at) { return callForward(at); };
  auto weighted = WeightedFunction::create(call, arguments, *cotangents,
                                           nested.getCotangentResults());
  if (!weighted)
    return weighted.takeError();
  function = std::move(*weighted);
  return checkResults(*values);
}

static std::string printNumber(double value) {
  // A NaN has no sign that matters.
  if (std::isnan(value))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

/// The indices of element `number` of `tensor`, such as "[1, 2]".
static std::string describePlace(const HostTensor &tensor, int64_t number) {
  SmallVector<int64_t> indices;
  for (int64_t size : llvm::reverse(tensor.getShape())) {
    indices.push_back(number % size);
    number /= size;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(llvm::reverse(indices), os);
  os << ']';
  return text;
}

static bool isInfinite(double value) { return !std::isfinite(value); }

/// Greatest magnitude of a finite element.
static double getGreatest(const HostTensor &tensor) {
  double greatest = 0;
  for (double element : tensor.getF64())
    if (std::isfinite(element))
      greatest = std::max(greatest, std::abs(element));
  return greatest;
}

llvm::Error GradientChecker::checkResults(const ForwardResults &values) {
  auto expected = callForward(arguments);
  if (!expected)
    return expected.takeError();
  for (unsigned index : getNested().getCotangentResults()) {
    const HostTensor &exact = (*expected)[index];
    double bound = GradientCheck::kDifferenceBound * getGreatest(exact);
    for (auto [i, a, b] :
         llvm::enumerate(values.results[index].getF64(), exact.getF64())) {
      if (std::isnan(b) && undefinedResult.empty())
        undefinedResult = "result " + std::to_string(index) + " is nan at " +
                          describePlace(exact, i);
      if (std::isfinite(b) && !(std::abs(a - b) <= bound))
        return llvm::createStringError(
            "result " + Twine(index) +
            " of the forward function is not that of the function itself: "
            "element " +
            describePlace(exact, i) + " is " + printNumber(a) + ", and " +
            printNumber(b) + " in the function");
    }
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Against differences
//===----------------------------------------------------------------------===//

/// Arguments of up to this many elements are checked along every axis.
static constexpr int64_t kMaxAxes = 64;
/// Directions of random signs and random axes for larger ones.
static constexpr unsigned kNumRandom = 2;

/// The directions to check `gradient` along.
static SmallVector<Direction> chooseDirections(const HostTensor &gradient,
                                               unsigned argument) {
  SmallVector<Direction> directions;
  int64_t size = gradient.size();
  if (size <= kMaxAxes) {
    for (int64_t i = 0; i < size; ++i)
      directions.push_back(makeAxis(size, i));
    return directions;
  }
  Random random(argument);
  for (unsigned i = 0; i < kNumRandom; ++i)
    directions.push_back(makeSigns(size, random.next()));
  ArrayRef<double> elements = gradient.getF64();
  const double *greatest = llvm::max_element(
      elements, [](double a, double b) { return std::abs(a) < std::abs(b); });
  directions.push_back(makeAxis(size, greatest - elements.begin()));
  for (unsigned i = 1; i < kNumRandom; ++i)
    directions.push_back(makeAxis(size, random.next() % size));
  return directions;
}

/// Root of the mean of the squares of the elements.
static double getRootMeanSquare(const HostTensor &tensor) {
  double sum = 0;
  for (double element : tensor.getF64())
    sum += element * element;
  return tensor.size() ? std::sqrt(sum / tensor.size()) : 0;
}

/// Says where differences are NaN, along `direction`.
static std::string describeUndefined(const HostTensor &gradient,
                                     const Direction &direction) {
  auto isMoved = [](double component) { return component != 0; };
  if (llvm::count_if(direction, isMoved) != 1)
    return "differences in a direction of random signs are nan, so there is "
           "nothing to compare with";
  int64_t element = llvm::find_if(direction, isMoved) - direction.begin();
  return "differences at " + describePlace(gradient, element) +
         " are nan, where the gradient is " +
         printNumber(gradient.getF64()[element]) +
         ", so there is nothing to compare with";
}

llvm::Error GradientChecker::checkDifferences(const HostTensor &gradient,
                                              const HostTensor &signs,
                                              GradientCheck &result) {
  if (!undefinedResult.empty()) {
    result.note = undefinedResult + ", so there are no differences to compare "
                                    "with";
    result.differenceError = NAN;
    return llvm::Error::success();
  }
  double scale =
      std::max({getRootMeanSquare(gradient), getRootMeanSquare(signs),
                1e-6 * function->getNorm()});
  for (const Direction &direction :
       chooseDirections(gradient, result.argument)) {
    auto error = function->getError(result.argument, gradient, scale, direction,
                                    GradientCheck::kDifferenceBound);
    if (!error)
      return error.takeError();
    if (std::isnan(*error) && result.note.empty())
      result.note = describeUndefined(gradient, direction);
    // Of a NaN and a number, the NaN remains.
    result.differenceError =
        std::isnan(*error) ? *error : std::max(result.differenceError, *error);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Against f64
//===----------------------------------------------------------------------===//

/// The bound of the error of a gradient that is rounded to `type`. Numbers of
/// narrow types are computed in f32 and rounded once per operation: the bound
/// is about 30 roundings. Sums in f32 have errors that grow like the square
/// root of the number of terms: 300 roundings cover 100000 terms.
static double getTypeBound(Type type) {
  if (type.isF64())
    return 1e-12;
  if (type.isF32())
    return 2e-5;
  return type.isF16() ? 2e-2 : 1e-1;
}

void GradientChecker::checkType(const Gradient &given,
                                const HostTensor &gradient,
                                const HostTensor &signs,
                                GradientCheck &result) {
  auto own = cast<FloatType>(given.value.getElementType());
  double most = APFloat::getLargest(own.getFloatSemantics()).convertToDouble();
  double scale = std::max(getGreatest(gradient), getGreatest(signs));
  // The least precise type on the way decides.
  SmallVector<FloatType> types(given.roundings);
  types.push_back(own);
  for (FloatType type : types) {
    auto least = APFloat::getSmallestNormalized(type.getFloatSemantics());
    scale = std::max(scale, least.convertToDouble());
    result.typeBound = std::max(result.typeBound, getTypeBound(type));
  }
  int64_t numWrong = 0;
  std::string first;
  for (auto [i, exact] : llvm::enumerate(gradient.getF64())) {
    if (!(std::abs(exact) <= most))
      continue;
    double value = given.value.getFloat(i);
    if (isInfinite(value) && numWrong++ == 0)
      first = "; the first is " + describePlace(gradient, i) + ", which is " +
              printNumber(value) + ", and " + printNumber(exact) + " in f64";
    if (std::isfinite(value))
      result.typeError =
          std::max(result.typeError, std::abs(value - exact) / scale);
  }
  if (numWrong)
    result.note += (result.note.empty() ? "" : "; ") +
                   std::to_string(numWrong) +
                   " elements are not finite but are so in f64" + first;
}

llvm::Expected<std::string> GradientChecker::describeInfinite(
    const HostTensor &gradient, int64_t numInfinite, unsigned argument) const {
  ArrayRef<double> elements = gradient.getF64();
  int64_t first = llvm::find_if(elements, isInfinite) - elements.begin();
  auto slope = function->getSlope(argument, first);
  if (!slope)
    return slope.takeError();
  return std::to_string(numInfinite) +
         " elements are not finite, so there is nothing to compare; the first "
         "is " +
         describePlace(gradient, first) + ", which is " +
         printNumber(elements[first]) + ", where a difference is " +
         printNumber(*slope);
}

llvm::Expected<GradientCheck> GradientChecker::check(const Gradient &gradient,
                                                     size_t position) {
  const HostTensor &wide = gradients[position].value;
  const HostTensor &signs = signGradients[position].value;
  RankedTensorType type = gradient.value.getType();
  GradientCheck result = {gradient.argument, type, 0, 0, 0, ""};
  if (int64_t numInfinite = llvm::count_if(wide.getF64(), isInfinite)) {
    auto note = describeInfinite(wide, numInfinite, gradient.argument);
    if (!note)
      return note.takeError();
    result.note = *note;
    result.differenceError = NAN;
  } else if (llvm::Error error = checkDifferences(wide, signs, result)) {
    return error;
  }
  checkType(gradient, wide, signs, result);
  return result;
}

FailureOr<SmallVector<GradientCheck>> fad::checkGradients(
    ModuleOp module, const NestOptions &options, const NestedFunction *nested,
    ArrayRef<HostTensor> arguments, ArrayRef<HostTensor> cotangents,
    ArrayRef<Gradient> gradients) {
  FailureOr<GradientChecker> checker =
      GradientChecker::create(module, options, nested);
  if (failed(checker))
    return failure();
  auto fail = [&](llvm::Error error) {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  if (llvm::Error error = checker->setPoint(arguments, cotangents))
    return fail(std::move(error));
  SmallVector<GradientCheck> results;
  for (auto [position, gradient] : llvm::enumerate(gradients)) {
    auto result = checker->check(gradient, position);
    if (!result)
      return fail(result.takeError());
    results.push_back(*result);
  }
  return results;
}
