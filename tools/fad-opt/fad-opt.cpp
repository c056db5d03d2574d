//===- fad-opt.cpp - Runs fad and upstream passes on MLIR files -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/Mains.h"
#include "../Common/Tool.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include <map>

using namespace mlir;

/// Errors are not followed by their operation, which may be the whole module,
/// unless that is asked for.
static void leaveOutOperations() {
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option && !option->getNumOccurrences())
    option->addOccurrence(/*pos=*/0, option->ArgStr, "false");
}

/// Prints what `find` knows of the passes or pipelines of fad, under `title`.
template <typename Info>
static void printNames(StringRef title, const Info *(*find)(StringRef)) {
  std::map<std::string, const Info *> infos;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name.starts_with("fad-"))
      if (const Info *info = find(name))
        infos[name.str()] = info;
  size_t width = 0;
  for (auto &[name, info] : infos)
    width = std::max(width, info->getOptionWidth());
  llvm::outs() << title << ":\n\n";
  for (auto &[name, info] : infos)
    info->printHelpStr(/*indent=*/2, width + 2);
  llvm::outs() << "\n";
}

/// Prints the passes and pipelines of fad with their options, without
/// upstream's, which are some hundred.
static void printOwnHelp() {
  llvm::outs() << "OVERVIEW: fad optimizer driver\n\n";
  printNames("Pipelines of fad", PassPipelineInfo::lookup);
  printNames("Passes of fad", PassInfo::lookup);
}

static bool asksForHelp(StringRef argument) {
  return argument == "--help" || argument == "-help" || argument == "-h";
}

int fad_opt_main(int argc, char **argv) {
  fad::initTool();
  DialectRegistry registry;
  fad::registerToolDialects(registry);
  fad::registerToolPasses(registry);
  std::string header = registerCLIOptions("fad optimizer driver\n", registry);
  llvm::cl::opt<bool> helpFad{
      "help-fad",
      llvm::cl::desc("Display the passes and pipelines of fad alone"),
      llvm::cl::ValueDisallowed, llvm::cl::callback([](const bool &) {
        printOwnHelp();
        std::exit(EXIT_SUCCESS);
      })};
  // All of LLVM's options follow.
  if (llvm::any_of(ArrayRef(argv, argc).drop_front(), asksForHelp))
    printOwnHelp();
  auto [input, output] = parseCLIOptions(argc, argv, header);
  leaveOutOperations();
  if (fad::isDevice(input)) {
    fad::escapedErrors() << fad::explainDevice(input) << "\n";
    return EXIT_FAILURE;
  }
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
