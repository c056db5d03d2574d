//===- Module.h - MLIR modules in Python ------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_MODULE_H
#define FAD_PYTHON_MODULE_H

#include "Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"

namespace mlir::fad::python {

/// A module and the context that it lives in.
class Module {
public:
  Module(std::shared_ptr<Context> context, OwningOpRef<ModuleOp> op)
      : context(std::move(context)), op(std::move(op)) {}

  /// Calls `work(op)` as Context::run does.
  template <typename Work> auto run(const Work &work) {
    return context->run([&](MLIRContext &) { return work(*op); });
  }

  /// Replaces the module by what `work(op)` returns, unless that is failure.
  template <typename Work> void transform(const Work &work) {
    context->run([&](MLIRContext &) -> LogicalResult {
      FailureOr<OwningOpRef<ModuleOp>> result = work(*op);
      if (succeeded(result))
        op = std::move(*result);
      return result;
    });
  }

  const std::shared_ptr<Context> &getContext() const { return context; }

private:
  std::shared_ptr<Context> context;
  OwningOpRef<ModuleOp> op;
};

/// The parts of `fad._types.TensorType`: the type as MLIR prints it, the
/// shape, where it has one, and the name that numpy has for the elements, where
/// it has one. Scalars have the rank 0.
struct TypeDescription {
  explicit TypeDescription(Type type);
  nanobind::tuple toPython() const;

  std::string text;
  bool isScalar;
  std::optional<std::vector<int64_t>> shape;
  std::string dtype;
};

/// The list of `toPython` of each element of `range`.
template <typename Range> nanobind::list toPythonList(const Range &range) {
  nanobind::list list;
  for (const auto &element : range)
    list.append(element.toPython());
  return list;
}

} // namespace mlir::fad::python

#endif // FAD_PYTHON_MODULE_H
