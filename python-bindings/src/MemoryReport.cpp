//===- MemoryReport.cpp - Memory reports in Python ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "PolicyName.h"
#include "fad/Pipelines/ReportMemory.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/pair.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

/// Bytes as a number, where they are one, and as text.
static nb::tuple toPython(const MemoryReport &report, const SizeExpr &bytes) {
  std::optional<uint64_t> number = bytes.getConstant();
  return nb::make_tuple(number ? nb::object(nb::int_(*number)) : nb::none(),
                        report.toString(bytes));
}

static nb::tuple toPython(const MemoryReport &report,
                          const PolicyResiduals &policy) {
  nb::list residuals;
  for (const ResidualInfo &info : policy.residuals) {
    nb::list neededBy;
    for (const std::string &name : info.neededBy)
      neededBy.append(name);
    residuals.append(nb::make_tuple(TypeDescription(info.type).toPython(),
                                    toPython(report, info.bytes),
                                    nb::tuple(neededBy), info.reason));
  }
  return nb::make_tuple(stringifyPolicy(policy.policy).str(),
                        toPython(report, policy.total), residuals);
}

static nb::tuple
reportOn(python::Module &module, const std::string &entry,
         const std::vector<int64_t> &wrt, const std::vector<int64_t> &results,
         const std::vector<std::string> &policies,
         std::map<std::pair<unsigned, unsigned>, uint64_t> sizes,
         std::optional<uint64_t> otherSizes,
         const std::optional<std::string> &recompute,
         std::optional<int64_t> assumedSize) {
  ReportRequest request;
  request.entry = entry;
  request.wrt.assign(wrt.begin(), wrt.end());
  request.results.assign(results.begin(), results.end());
  request.policies = llvm::map_to_vector(policies, getPolicy);
  request.sizes = {std::move(sizes), otherSizes};
  if (recompute)
    request.recompute = getRecomputeLevel(*recompute);
  request.assumedSize = assumedSize;
  MemoryReport report =
      module.run([&](ModuleOp op) { return reportMemory(op, request); });
  nb::list reported;
  for (const PolicyResiduals &policy : report.getPolicies())
    reported.append(toPython(report, policy));
  std::string table;
  llvm::raw_string_ostream os(table);
  report.printTable(os);
  return nb::make_tuple(report.getEntry().str(), reported, table);
}

void mlir::fad::python::bindMemoryReport(nb::module_ &module) {
  module.def("memory_report", reportOn, nb::arg("module"), nb::arg("entry"),
             nb::arg("wrt"), nb::arg("results"), nb::arg("policies"),
             nb::arg("sizes"), nb::arg("other_sizes").none(),
             nb::arg("recompute").none(), nb::arg("assumed_size").none());
}
