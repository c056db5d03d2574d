//===- Remarks.cpp - Optimization remarks of passes -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "fad/Analysis/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fad;

std::unique_lock<std::mutex> fad::lockRemarks() {
  static std::mutex mutex;
  return std::unique_lock<std::mutex>(mutex);
}

static remark::RemarkOpts getOptions(Operation *op, StringRef category,
                                     StringRef name) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(name).category(category).function(
      function ? function.getName() : StringRef());
}

void fad::emitPassedRemark(Operation *function, StringRef category,
                           StringRef name,
                           ArrayRef<std::pair<StringRef, unsigned>> numbers) {
  auto lock = lockRemarks();
  remark::detail::InFlightRemark remark =
      remark::passed(function->getLoc(), getOptions(function, category, name));
  for (auto [key, number] : numbers)
    remark << remark::metric(key, number);
}

void fad::emitMissedRemark(Operation *op, StringRef category, StringRef name,
                           StringRef reason) {
  auto lock = lockRemarks();
  remark::missed(op->getLoc(), getOptions(op, category, name))
      << remark::metric("Because", reason);
}
