//===- Nest.cpp - Differentiation in Python -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

namespace {
/// What to differentiate; what is empty is fad's to choose.
struct Request {
  std::string entry;
  std::vector<int64_t> wrt, results;
  Policy policy;
};

/// The pair of functions that `fad-nest` makes of one.
struct Pair {
  OwningOpRef<ModuleOp> module;
  func::FuncOp forward, backward;
};
} // namespace

static FailureOr<Pair> nestFunction(ModuleOp module, const Request &request) {
  FailureOr<func::FuncOp> function = findEntry(module, request.entry);
  if (failed(function))
    return failure();
  std::string name = function->getSymName().str();
  Pair pair;
  pair.module = module.clone();
  PassManager pm(module.getContext());
  NestOptions options;
  options.entry = name;
  options.policy = request.policy;
  llvm::for_each(request.wrt, [&](int64_t i) { options.wrt.push_back(i); });
  llvm::for_each(request.results,
                 [&](int64_t i) { options.results.push_back(i); });
  buildNestPipeline(pm, options);
  if (failed(pm.run(*pair.module)))
    return failure();
  pair.forward = pair.module->lookupSymbol<func::FuncOp>(name + "_forward");
  pair.backward = pair.module->lookupSymbol<func::FuncOp>(name + "_backward");
  return pair;
}

static nb::object toPython(Type type) {
  return TypeDescription(type).toPython();
}

static nb::object toPython(Attribute number) {
  return nb::int_(cast<IntegerAttr>(number).getInt());
}

/// What `fad.Nested` is made of.
static nb::tuple describe(Pair &pair) {
  nb::list arguments, results, residuals, cotangents, gradients;
  func::FuncOp forward = pair.forward, backward = pair.backward;
  for (Type type : forward.getArgumentTypes())
    arguments.append(toPython(type));
  for (auto [index, type] : llvm::enumerate(forward.getResultTypes()))
    (forward.getResultAttr(index, FadDialect::kResidualAttr) ? residuals
                                                             : results)
        .append(toPython(type));
  for (auto [index, type] : llvm::enumerate(backward.getArgumentTypes()))
    if (Attribute result =
            backward.getArgAttr(index, FadDialect::kCotangentAttr))
      cotangents.append(nb::make_tuple(toPython(type), toPython(result)));
  for (auto [index, type] : llvm::enumerate(backward.getResultTypes()))
    if (Attribute argument =
            backward.getResultAttr(index, FadDialect::kGradientAttr))
      gradients.append(nb::make_tuple(toPython(type), toPython(argument)));
  return nb::make_tuple(forward.getSymName().str(), backward.getSymName().str(),
                        arguments, results, residuals, cotangents, gradients);
}

static Policy getPolicy(const std::string &name) {
  if (std::optional<Policy> policy = symbolizePolicy(name))
    return *policy;
  throw nb::value_error(("there is no policy '" + name +
                         "'; choose one of 'bp', 'recompute', 'fad'")
                            .c_str());
}

static nb::tuple nest(python::Module &module, const std::string &entry,
                      const std::vector<int64_t> &wrt,
                      const std::vector<int64_t> &results,
                      const std::string &policy) {
  Request request = {entry, wrt, results, getPolicy(policy)};
  Pair pair =
      module.run([&](ModuleOp op) { return nestFunction(op, request); });
  nb::tuple description = describe(pair);
  python::Module nested(module.getContext(), std::move(pair.module));
  return nb::make_tuple(std::move(nested), description);
}

void mlir::fad::python::bindNest(nb::module_ &module) {
  module.def("nest", nest, nb::arg("module"), nb::arg("entry"), nb::arg("wrt"),
             nb::arg("results"), nb::arg("policy"));
}
