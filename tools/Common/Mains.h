//===- Mains.h - The tools as functions -------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_MAINS_H
#define FAD_TOOLS_COMMON_MAINS_H

// Functions that `main` of each tool calls, for its exit status.
// One library can thus have several tools in it (tools/standalone). A process
// calls one of them, once.
int fad_lsp_server_main(int argc, char **argv);
int fad_memory_report_main(int argc, char **argv);
int fad_opt_main(int argc, char **argv);
int fad_reduce_main(int argc, char **argv);
int fad_runner_main(int argc, char **argv);
int fad_translate_main(int argc, char **argv);

#endif // FAD_TOOLS_COMMON_MAINS_H
