//===- ToolInput.cpp - The input module of a tool -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EscapingStream.h"
#include "Tool.h"
#include "fad/IR/Fad.h"
#include "fad/Rules/Rules.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

void fad::registerToolDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<FadDialect>();
  registerAllRules(registry);
}

bool fad::isDevice(StringRef path) {
  llvm::sys::fs::file_status status;
  return path != "-" && !llvm::sys::fs::status(path, status) &&
         (status.type() == llvm::sys::fs::file_type::character_file ||
          status.type() == llvm::sys::fs::file_type::block_file);
}

std::string fad::explainDevice(StringRef path) {
  return ("cannot open input file '" + path +
          "': it is a device; give a file, a pipe, or - for the standard input")
      .str();
}

LogicalResult fad::runOnFile(StringRef path, const DialectRegistry &registry,
                             function_ref<LogicalResult(ModuleOp)> run) {
  if (isDevice(path))
    return printError(explainDevice(path));
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(path, &error);
  if (!input)
    return printError(error);
  MLIRContext context(registry);
  // The operation may be the whole module.
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler diagnostics(*sources, &context, escapedErrors());
  // Passes that run on several copies of the program say the same of each.
  llvm::StringSet<> warnings;
  ScopedDiagnosticHandler once(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return failure();
    std::string text;
    llvm::raw_string_ostream(text)
        << diagnostic.getLocation() << ' ' << diagnostic;
    return success(!warnings.insert(text).second);
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  return module ? run(*module) : failure();
}
