//===- Json.cpp - Memory reports for programs -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "fad/Pipelines/MemoryReport.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
class Writer {
public:
  Writer(const MemoryReport &report, raw_ostream &os)
      : report(report), json(os, /*IndentSize=*/2) {}

  void write() {
    json.object([&] {
      json.attribute("entry", report.getEntry());
      json.attributeArray("symbols", [&] {
        for (const SizeSymbols::Symbol &symbol : report.getSymbols())
          if (!symbol.divisor)
            json.object([&] { writeSymbol(symbol); });
      });
      json.attributeObject("policies", [&] {
        for (const PolicyReport &policy : report.getPolicies())
          json.attributeObject(stringifyPolicy(policy.policy),
                               [&] { writePolicy(policy); });
      });
    });
  }

private:
  /// A number, or a string if sizes are unknown.
  void writeBytes(StringRef key, const SizeExpr &bytes) {
    if (std::optional<uint64_t> number = bytes.getConstant())
      json.attribute(key, *number);
    else
      json.attribute(key, report.toString(bytes));
  }

  void writeSource(const ValueInfo &info) {
    json.attribute("from", info.operation);
    json.attribute("location", info.location);
  }

  void writeResidual(const ResidualInfo &info) {
    json.attribute("type", debugString(info.type));
    writeBytes("bytes", info.bytes);
    json.attribute("for", llvm::join(info.neededBy, ", "));
    json.attribute("reason", info.reason);
    json.attribute("because", info.because);
    json.attribute("kind", stringifyResidualKind(info.kind));
    writeSource(info);
    if (info.bits)
      json.attribute("bits", info.bits);
    if (info.largestError)
      json.attribute("largest_error", *info.largestError);
    if (info.meanSquareError)
      json.attribute("mean_square_error", *info.meanSquareError);
    json.attribute("refused", info.isRefused);
    if (info.allowedBy)
      json.attribute("allowed_by", stringifyRecomputeLevel(*info.allowedBy));
    json.attributeArray("instead_of", [&] {
      for (const ValueInfo &other : info.insteadOf)
        json.object([&] {
          json.attribute("type", debugString(other.type));
          writeBytes("bytes", other.bytes);
          writeSource(other);
        });
    });
    json.attribute("activation", info.isOfActivation);
    json.attribute("layer", info.layer);
  }

  void writeFootprint(const Footprint &footprint) {
    json.attribute("activations", footprint.activations);
    json.attribute("others", footprint.others);
    json.attribute("weights", footprint.weights);
    json.attribute("optimizer", footprint.optimizer);
    json.attribute("inputs", footprint.inputs);
    json.attribute("workspace", footprint.workspace);
    json.attribute("total", footprint.getTotal());
  }

  void writePolicy(const PolicyReport &policy) {
    writeBytes("total_bytes", policy.total);
    json.attributeArray("residuals", [&] {
      for (const ResidualInfo &info : policy.residuals)
        json.object([&] { writeResidual(info); });
    });
    json.attributeArray("recomputed", [&] {
      for (const RecomputedInfo &info : policy.recomputed)
        json.object([&] {
          json.attribute("type", debugString(info.type));
          writeBytes("bytes", info.bytes);
          json.attribute("time", info.time);
          writeSource(info);
        });
    });
    json.attribute("recompute_time", policy.recomputeTime);
    if (policy.peak)
      json.attribute("peak_bytes", *policy.peak);
    if (policy.footprint)
      json.attributeObject("footprint",
                           [&] { writeFootprint(*policy.footprint); });
    if (policy.batch)
      json.attributeObject("batch", [&] {
        if (policy.batch->largest)
          json.attribute("largest", *policy.batch->largest);
        else
          json.attribute("largest", nullptr);
        json.attribute("bytes", policy.batch->bytes);
      });
  }

  void writeSymbol(const SizeSymbols::Symbol &symbol) {
    json.attribute("name", symbol.name);
    json.attribute("what", symbol.description);
    if (!symbol.argumentDim)
      return;
    json.attribute("argument", symbol.argumentDim->first);
    json.attribute("dimension", symbol.argumentDim->second);
  }

  const MemoryReport &report;
  llvm::json::OStream json;
};
} // namespace

void MemoryReport::printJSON(raw_ostream &os) const {
  Writer(*this, os).write();
  os << "\n";
}
