//===- Tools.cpp - The tools, by name -------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Mains.h"
#include "llvm/ADT/StringSwitch.h"

/// Runs the tool `name` and returns its exit status. Exported.
extern "C" __attribute__((visibility("default"))) int
fadRunTool(const char *name, int argc, char **argv) {
  using Main = int (*)(int, char **);
  Main main = llvm::StringSwitch<Main>(name)
                  .Case("fad-lsp-server", fad_lsp_server_main)
                  .Case("fad-memory-report", fad_memory_report_main)
                  .Case("fad-opt", fad_opt_main)
                  .Case("fad-reduce", fad_reduce_main)
                  .Case("fad-runner", fad_runner_main)
                  .Case("fad-translate", fad_translate_main);
  return main(argc, argv);
}
