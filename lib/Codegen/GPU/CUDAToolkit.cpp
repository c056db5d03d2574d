//===- CUDAToolkit.cpp - Search for NVIDIA's libdevice --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/CUDAToolkit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir::fad;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::optional<std::string> mlir::fad::findLibdevice(llvm::StringRef toolkit) {
  llvm::SmallString<128> file(toolkit);
  path::append(file, "nvvm", "libdevice", "libdevice.10.bc");
  if (!fs::is_regular_file(file))
    return std::nullopt;
  return file.str().str();
}

/// The entries of `directory` whose name starts with `prefix`, by name.
static std::vector<std::string> listDirectory(llvm::StringRef directory,
                                              llvm::StringRef prefix) {
  std::vector<std::string> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error))
    if (path::filename(it->path()).starts_with(prefix))
      entries.push_back(it->path());
  llvm::sort(entries);
  return entries;
}

/// The search path of `python3` for modules; empty if the program does not
/// exist.
static std::vector<std::string> getPythonPath() {
  llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName("python3");
  llvm::SmallString<128> output;
  if (!python || fs::createTemporaryFile("fad-python-path", "txt", output))
    return {};
  llvm::FileRemover remover(output);
  // -c puts the working directory first, which holds no packages.
  llvm::StringRef program = "import sys; print('\\n'.join(sys.path[1:]))";
  std::optional<llvm::StringRef> redirects[] = {"", output.str(), ""};
  constexpr unsigned kSeconds = 10;
  if (llvm::sys::ExecuteAndWait(*python, {*python, "-c", program}, std::nullopt,
                                redirects, kSeconds))
    return {};
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return {};
  std::vector<std::string> directories;
  for (llvm::StringRef line : llvm::split((*buffer)->getBuffer(), '\n'))
    if (!line.empty())
      directories.push_back(line.str());
  return directories;
}

std::optional<std::string> mlir::fad::findCUDAToolkit() {
  std::vector<std::string> candidates;
  for (llvm::StringRef variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> value = llvm::sys::Process::GetEnv(variable))
      candidates.push_back(*value);
  llvm::append_range(candidates, listDirectory("/usr/local", "cuda"));
  candidates.push_back("/usr/lib/cuda");
  candidates.push_back("/opt/cuda");
  if (auto nvcc = llvm::sys::findProgramByName("nvcc")) {
    llvm::SmallString<128> real;
    if (!fs::real_path(*nvcc, real))
      candidates.push_back(path::parent_path(path::parent_path(real)).str());
  }
  for (const std::string &candidate : candidates)
    if (findLibdevice(candidate))
      return candidate;
  // Asking Python takes tens of milliseconds, so it comes last. Packages for
  // CUDA 13 install to nvidia/cu13, those for CUDA 12 to nvidia/cuda_nvcc.
  for (const std::string &directory : getPythonPath())
    for (std::string &candidate : listDirectory(directory + "/nvidia", "cu"))
      if (findLibdevice(candidate))
        return std::move(candidate);
  return std::nullopt;
}
