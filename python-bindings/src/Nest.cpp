//===- Nest.cpp - Differentiation in Python -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "PolicyName.h"
#include "fad/Pipelines/NestedPair.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

/// `types`, each with the number of its value.
static nb::list describe(TypeRange types, ArrayRef<unsigned> numbers) {
  nb::list list;
  for (auto [type, number] : llvm::zip_equal(types, numbers))
    list.append(nb::make_tuple(TypeDescription(type).toPython(), number));
  return list;
}

static nb::list describe(TypeRange types) {
  return toPythonList(
      llvm::map_range(types, [](Type type) { return TypeDescription(type); }));
}

static nb::list describeResiduals(NestedPair &pair) {
  nb::list list;
  auto types =
      pair.forward.getResultTypes().drop_front(pair.getNumPrimalResults());
  for (auto [type, residual] : llvm::zip_equal(types, pair.residuals)) {
    nb::list neededBy;
    for (const std::string &name : residual.neededBy)
      neededBy.append(name);
    list.append(nb::make_tuple(TypeDescription(type).toPython(),
                               nb::tuple(neededBy), residual.reason));
  }
  return list;
}

/// The parts of `fad.Nested`, apart from the module.
static nb::tuple describe(NestedPair &pair) {
  func::FuncOp forward = pair.forward, backward = pair.backward;
  TypeRange results = forward.getResultTypes();
  TypeRange cotangents = backward.getArgumentTypes();
  return nb::make_tuple(
      forward.getSymName().str(), backward.getSymName().str(),
      describe(forward.getArgumentTypes()),
      describe(results.take_front(pair.getNumPrimalResults())),
      describeResiduals(pair),
      describe(cotangents.drop_front(pair.residuals.size()),
               pair.getCotangentResults()),
      describe(backward.getResultTypes(), pair.getGradientArguments()));
}

static nb::tuple nest(python::Module &module, const std::string &entry,
                      const std::vector<int64_t> &wrt,
                      const std::vector<int64_t> &results,
                      const std::string &policyName,
                      const nb::dict &selection) {
  NestOptions options;
  options.entry = entry;
  options.setSelection(getSelection(selection));
  options.policy = getPolicy(policyName);
  llvm::for_each(wrt, [&](int64_t i) { options.wrt.push_back(i); });
  llvm::for_each(results, [&](int64_t i) { options.results.push_back(i); });
  OwningOpRef<ModuleOp> nested;
  NestedPair pair = module.run([&](ModuleOp op) {
    nested = op.clone();
    return NestedPair::create(*nested, options);
  });
  nb::tuple description = describe(pair);
  return nb::make_tuple(python::Module(module.getContext(), std::move(nested)),
                        description);
}

void mlir::fad::python::bindNest(nb::module_ &module) {
  module.def("nest", nest, nb::arg("module"), nb::arg("entry"), nb::arg("wrt"),
             nb::arg("results"), nb::arg("policy"), nb::arg("selection"));
  module.attr("ASSUMED_SIZE") = SelectionOptions().assumedSize;
}
