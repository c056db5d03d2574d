//===- Arguments.cpp - Values given on the command line -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "fad/Runtime/Npy.h"
#include "fad/Runtime/Random.h"
#include "mlir/Support/DebugStringHelper.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;
using llvm::createStringError;
using llvm::Expected;

/// A tensor of type `type`, with `size` for its dynamic sizes.
static Expected<HostTensor> createTensor(RankedTensorType type,
                                         std::optional<int64_t> size) {
  SmallVector<int64_t> shape(type.getShape());
  if (!type.hasStaticShape() && !size)
    return createStringError("its type " + debugString(type) +
                             " has dynamic sizes; give them all with "
                             "--size=N, or the tensor as a .npy file");
  if (size)
    llvm::replace(shape, ShapedType::kDynamic, *size);
  return HostTensor::create(
      RankedTensorType::get(shape, type.getElementType()));
}

/// Fills `tensor`, the declared type of which is `type`.
static void fillRandom(const HostTensor &tensor, RankedTensorType type,
                       uint64_t seed) {
  Random random(seed);
  double scale = 1;
  if (type.hasStaticShape() && type.getRank() >= 2)
    for (int64_t size : type.getShape().drop_front())
      scale /= std::sqrt(double(std::max<int64_t>(size, 1)));
  for (int64_t i = 0, end = tensor.size(); i < end; ++i)
    if (tensor.isFloat())
      tensor.setFloat(i, scale * random.normal());
    else
      tensor.setInteger(i, random.next() & 1);
}

/// Reads `spec` as an integer of type `type`, or fails.
static std::optional<int64_t> parseInteger(StringRef spec, Type type) {
  unsigned width = 8 * getHostElementSize(type);
  int64_t value;
  uint64_t magnitude;
  if (type.isInteger(1) || type.isUnsignedInteger()) {
    unsigned bits = type.isInteger(1) ? 1 : width;
    if (spec.getAsInteger(10, magnitude) || !llvm::isUIntN(bits, magnitude))
      return std::nullopt;
    return magnitude;
  }
  if (spec.getAsInteger(10, value) || !llvm::isIntN(width, value))
    return std::nullopt;
  return value;
}

/// The value of a place of type `type` all elements of which are the number
/// `spec`.
static Expected<HostTensor> makeUniform(StringRef spec, RankedTensorType type,
                                        std::optional<int64_t> size) {
  double number = 0;
  if (spec.empty() || spec.getAsDouble(number))
    return createStringError("'" + spec +
                             "' is none of a .npy file, random:SEED and a "
                             "number");
  Type elementType = type.getElementType();
  std::optional<int64_t> integer;
  if (!isa<FloatType>(elementType)) {
    integer = parseInteger(spec, elementType);
    if (!integer)
      return createStringError(spec + " is not a value of type " +
                               debugString(elementType));
  }
  Expected<HostTensor> tensor = createTensor(type, size);
  if (!tensor)
    return tensor;
  for (int64_t i = 0, end = tensor->size(); i < end; ++i)
    if (integer)
      tensor->setInteger(i, *integer);
    else
      tensor->setFloat(i, number);
  return tensor;
}

/// The value that `spec` stands for in a place of type `type`.
static Expected<HostTensor> makeValue(StringRef spec, RankedTensorType type,
                                      std::optional<int64_t> size) {
  if (spec.ends_with(".npy"))
    return readNpy(spec, type);
  if (!spec.starts_with("random:"))
    return makeUniform(spec, type, size);
  uint64_t seed = 0;
  if (spec.split(':').second.getAsInteger(10, seed))
    return createStringError("'" + spec + "' has no seed; write random:7");
  Expected<HostTensor> tensor = createTensor(type, size);
  if (tensor)
    fillRandom(*tensor, type, seed);
  return tensor;
}

FailureOr<SmallVector<HostTensor>>
fad::makeArguments(func::FuncOp function, ArrayRef<std::string> specs,
                   std::optional<int64_t> size) {
  if (specs.size() > function.getNumArguments())
    return emitError(function.getLoc(), "@")
           << function.getSymName() << " has " << function.getNumArguments()
           << " arguments, but --arg is given " << specs.size() << " times";
  SmallVector<HostTensor> arguments;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string spec =
        index < specs.size() ? specs[index] : "random:" + std::to_string(index);
    Expected<HostTensor> value =
        makeValue(spec, getHostTensorType(argument.getType()), size);
    if (!value)
      return emitError(argument.getLoc()) << "argument " << index << ": "
                                          << llvm::toString(value.takeError());
    arguments.push_back(*value);
  }
  return arguments;
}

FailureOr<SmallVector<HostTensor>>
fad::makeCotangents(func::FuncOp function, ArrayRef<std::string> specs,
                    ArrayRef<unsigned> results, ArrayRef<HostTensor> values) {
  if (specs.size() > results.size())
    return emitError(function.getLoc(), "@")
           << function.getSymName() << " has " << results.size()
           << " differentiated results, but --cotangent is given "
           << specs.size() << " times";
  SmallVector<HostTensor> cotangents;
  for (auto [position, result] : llvm::enumerate(results)) {
    StringRef spec = position < specs.size() ? StringRef(specs[position]) : "1";
    Expected<HostTensor> value =
        makeValue(spec, values[result].getType(), std::nullopt);
    if (!value)
      return emitError(function.getLoc(), "the cotangent of result ")
             << result << ": " << llvm::toString(value.takeError());
    cotangents.push_back(*value);
  }
  return cotangents;
}
