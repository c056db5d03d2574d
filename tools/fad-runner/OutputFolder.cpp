//===- OutputFolder.cpp - Files written completely or not at all ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFolder.h"
#include "fad/Runtime/Npy.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fad;
using llvm::sys::fs::TempFile;

static llvm::Error makeError(const Twine &what, std::error_code code) {
  return llvm::createStringError(code, what + ": " + code.message());
}

/// A file in `folder` that `name` is going to be the name of.
static llvm::Expected<TempFile> createTemporary(StringRef folder,
                                                const Twine &name) {
  SmallString<128> model(folder);
  llvm::sys::path::append(model, name + ".%%%%%%%%.tmp");
  auto file = TempFile::create(model, llvm::sys::fs::all_read |
                                          llvm::sys::fs::owner_write);
  if (!file)
    return makeError("cannot write to '" + folder + "'",
                     llvm::errorToErrorCode(file.takeError()));
  return file;
}

llvm::Error fad::prepareFolder(StringRef path) {
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return makeError("cannot make the folder '" + path + "'", code);
  auto probe = createTemporary(path, "probe");
  return probe ? probe->discard() : probe.takeError();
}

llvm::Error fad::writeTensors(StringRef path, ArrayRef<NamedTensor> tensors) {
  auto getName = [&](const NamedTensor &tensor) {
    SmallString<128> name(path);
    llvm::sys::path::append(name, tensor.name + ".npy");
    return name.str().str();
  };
  // A folder is the one thing that a file does not replace; better to know
  // before others are replaced.
  for (const NamedTensor &tensor : tensors)
    if (llvm::sys::fs::is_directory(getName(tensor)))
      return makeError("cannot write '" + getName(tensor) + "'",
                       std::make_error_code(std::errc::is_a_directory));
  std::vector<TempFile> files;
  llvm::scope_exit discard([&] {
    for (TempFile &file : files)
      llvm::consumeError(file.discard());
  });
  for (const NamedTensor &tensor : tensors) {
    auto file = createTemporary(path, tensor.name);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    llvm::raw_fd_ostream os(files.back().FD, /*shouldClose=*/false);
    writeNpy(os, tensor.value);
    os.flush();
    if (os.has_error()) {
      std::error_code code = os.error();
      os.clear_error();
      return makeError(
          "cannot write '" + tensor.name + ".npy' to '" + path + "'", code);
    }
  }
  // All are written; giving them their names does not fail for lack of space.
  discard.release();
  llvm::Error errors = llvm::Error::success();
  for (auto [file, tensor] : llvm::zip(files, tensors))
    errors = llvm::joinErrors(std::move(errors), file.keep(getName(tensor)));
  return errors;
}
