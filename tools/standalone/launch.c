//===- launch.c - A tool that is in the library ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

int fadRunTool(const char *name, int argc, char **argv);

int main(int argc, char **argv) { return fadRunTool(FAD_TOOL, argc, argv); }
