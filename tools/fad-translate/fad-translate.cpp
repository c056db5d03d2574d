//===- fad-translate.cpp - Translates out of MLIR -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Mains.h"
#include "../Common/Tool.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Joint/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

/// The gpu.binary to print, which has the name `binaryName` unless that is
/// empty. A PTX file is one module with one header, so several cannot go into
/// one file.
static FailureOr<gpu::BinaryOp> findBinary(Operation *root,
                                           StringRef binaryName) {
  SmallVector<gpu::BinaryOp> binaries;
  SmallVector<StringRef> names;
  root->walk([&](gpu::BinaryOp binary) {
    names.push_back(binary.getSymName());
    if (binaryName.empty() || binaryName == binary.getSymName())
      binaries.push_back(binary);
  });
  if (binaries.size() == 1)
    return binaries.front();
  if (names.empty())
    emitError(root->getLoc(), "there is no gpu.binary to print; fad-opt "
                              "--fad-to-nvvm makes one of the fad.elementwise "
                              "operations of a module");
  else if (binaries.empty())
    emitError(root->getLoc(), "there is no gpu.binary '")
        << binaryName << "'; there are: " << llvm::join(names, ", ");
  else
    emitError(root->getLoc(), "a PTX file holds one gpu.binary; choose with "
                              "--gpu-binary one of: ")
        << llvm::join(names, ", ");
  return failure();
}

/// Prints the only object of the gpu.binary `binaryName` if its format is one
/// of `wanted`. Errors are located at `root`: the line of a gpu.binary would
/// show its bytes.
static LogicalResult print(Operation *root, raw_ostream &os,
                           StringRef binaryName,
                           ArrayRef<gpu::CompilationTarget> wanted,
                           StringRef what) {
  FailureOr<gpu::BinaryOp> binary = findBinary(root, binaryName);
  if (failed(binary))
    return failure();
  if (binary->getObjects().size() != 1)
    return emitError(root->getLoc(), "gpu.binary '")
           << binary->getSymName() << "' has " << binary->getObjects().size()
           << " objects; compile it for one chip";
  auto object = cast<gpu::ObjectAttr>(binary->getObjects()[0]);
  if (!llvm::is_contained(wanted, object.getFormat()))
    return emitError(root->getLoc(), "gpu.binary '")
           << binary->getSymName() << "' holds "
           << gpu::stringifyCompilationTarget(object.getFormat()) << " and not "
           << what;
  os << object.getObject().getValue();
  return success();
}

static LogicalResult printPlan(ModuleOp module, raw_ostream &os) {
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return module.emitError(
        "a plan is that of one joint function; leave out the other functions");
  FailureOr<llvm::json::Value> plan = fad::describePlan(*functions.begin());
  if (failed(plan))
    return failure();
  os << llvm::formatv("{0:2}", *plan) << '\n';
  return success();
}

int fad_translate_main(int argc, char **argv) {
  fad::initTool();
  auto registerDialects = [](DialectRegistry &registry) {
    registerAllDialects(registry);
    registry.insert<fad::FadDialect>();
  };
  llvm::cl::opt<std::string> binaryName(
      "gpu-binary",
      llvm::cl::desc("The gpu.binary to print, if there are several"));
  auto printPTX = [&](Operation *root, raw_ostream &os) {
    return print(root, os, binaryName, gpu::CompilationTarget::Assembly,
                 "PTX; compile it with --fad-to-nvvm=format=isa");
  };
  auto printObject = [&](Operation *root, raw_ostream &os) {
    return print(
        root, os, binaryName,
        {gpu::CompilationTarget::Binary, gpu::CompilationTarget::Fatbin},
        "machine code; compile it with --fad-to-nvvm=format=bin or "
        "format=fatbin");
  };
  TranslateFromMLIRRegistration ptx("gpu-binary-to-ptx",
                                    "print the PTX of a gpu.binary", printPTX,
                                    registerDialects);
  TranslateFromMLIRRegistration object(
      "gpu-binary-to-object", "print the cubin or fatbin of a gpu.binary",
      printObject, registerDialects);
  TranslateFromMLIRRegistration plan(
      "fad-to-plan",
      "print the residuals of a joint function as changes to the graph of "
      "another framework, in JSON",
      printPlan, registerDialects);
  return failed(mlirTranslateMain(argc, argv, "fad translation driver"));
}
