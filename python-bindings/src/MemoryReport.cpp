//===- MemoryReport.cpp - Memory reports in Python ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/MemoryReport.h"
#include "Bindings.h"
#include "Module.h"
#include "PolicyName.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/pair.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

/// The request for one function.
static ReportRequest makeRequest(const std::string &entry,
                                 const std::vector<int64_t> &wrt,
                                 const std::vector<int64_t> &results,
                                 const std::vector<std::string> &policies,
                                 const nb::dict &selection) {
  ReportRequest request;
  request.entry = entry;
  request.wrt.assign(wrt.begin(), wrt.end());
  request.results.assign(results.begin(), results.end());
  request.policies = llvm::map_to_vector(policies, getPolicy);
  request.selection = getSelection(selection);
  request.hasAssumedSize = selection.contains("assumed_size");
  return request;
}

static nb::tuple
reportOn(python::Module &module, const std::string &entry,
         const std::vector<int64_t> &wrt, const std::vector<int64_t> &results,
         const std::vector<std::string> &policies,
         std::map<std::pair<unsigned, unsigned>, uint64_t> sizes,
         std::optional<uint64_t> otherSizes, const nb::dict &selection,
         const std::optional<std::string> &budget, const std::string &optimizer,
         uint64_t batch) {
  ReportRequest request = makeRequest(entry, wrt, results, policies, selection);
  request.sizes = {std::move(sizes), otherSizes};
  if (budget)
    request.memoryBudget = getBytes("memory_budget", *budget);
  request.optimizer = symbolizeOptimizer(optimizer).value();
  request.batch = batch;
  MemoryReport report =
      module.run([&](ModuleOp op) { return reportMemory(op, request); });
  nb::list types;
  for (const PolicyReport &policy : report.getPolicies()) {
    nb::list ofPolicy;
    for (const ResidualInfo &info : policy.residuals)
      ofPolicy.append(TypeDescription(info.type).toPython());
    types.append(ofPolicy);
  }
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  report.printTable(tableStream);
  report.printJSON(jsonStream);
  return nb::make_tuple(report.getEntry().str(), types, table, json);
}

static std::string draw(python::Module &module, const std::string &entry,
                        const std::vector<int64_t> &wrt,
                        const std::vector<int64_t> &results,
                        const std::string &policy, std::optional<uint64_t> size,
                        const nb::dict &selection, std::optional<bool> group) {
  ReportRequest request = makeRequest(entry, wrt, results, {policy}, selection);
  request.sizes.others = size;
  request.summarizePicture = group;
  std::string text;
  module.run([&](ModuleOp op) {
    llvm::raw_string_ostream os(text);
    return drawResiduals(op, request, os);
  });
  return text;
}

static nb::tuple curveOf(python::Module &module, const std::string &entry,
                         const std::vector<int64_t> &wrt,
                         const std::vector<int64_t> &results,
                         const nb::dict &selection) {
  ReportRequest request = makeRequest(entry, wrt, results, {"auto"}, selection);
  TimeMemoryCurve curve =
      module.run([&](ModuleOp op) { return measureCurve(op, request); });
  nb::list points;
  for (const TimeMemoryPoint &point : curve.points)
    points.append(nb::make_tuple(point.bytes, point.time / 8));
  return nb::make_tuple(curve.entry, points, curve.assumedSize);
}

void mlir::fad::python::bindMemoryReport(nb::module_ &module) {
  module.def("parse_bytes", getBytes, nb::arg("name"), nb::arg("text"));
  module.def("memory_report", reportOn, nb::arg("module"), nb::arg("entry"),
             nb::arg("wrt"), nb::arg("results"), nb::arg("policies"),
             nb::arg("sizes"), nb::arg("other_sizes").none(),
             nb::arg("selection"), nb::arg("memory_budget").none(),
             nb::arg("optimizer"), nb::arg("batch"));
  module.def("time_memory_curve", curveOf, nb::arg("module"), nb::arg("entry"),
             nb::arg("wrt"), nb::arg("results"), nb::arg("selection"));
  module.def("draw_residuals", draw, nb::arg("module"), nb::arg("entry"),
             nb::arg("wrt"), nb::arg("results"), nb::arg("policy"),
             nb::arg("size").none(), nb::arg("selection"),
             nb::arg("group").none());
}
