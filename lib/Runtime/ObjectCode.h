//===- ObjectCode.h - Machine code of a module ------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_OBJECTCODE_H
#define FAD_LIB_RUNTIME_OBJECTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::fad {

/// A packed function: it takes the addresses of its arguments.
using PackedFunction = void (*)(void **);

/// The processor of this machine, with its features, as text.
std::string describeProcessor();

/// Compiles `module`, in the LLVM dialect, for the processor of this machine.
/// Each function with a C interface gets a packed form. `level` is LLVM's level
/// of optimization, 0 to 3.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(ModuleOp module, unsigned level);

/// Machine code in this process, which calls the functions of the runtime.
class LinkedCode {
public:
  static llvm::Expected<std::unique_ptr<LinkedCode>>
  link(std::unique_ptr<llvm::MemoryBuffer> object);
  ~LinkedCode();

  /// The packed form of the function `name`.
  llvm::Expected<PackedFunction> lookup(StringRef name);
  /// Runs the constructors of the module, and its destructors at the end.
  llvm::Error initialize();

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*finalize)() = nullptr;
};

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_OBJECTCODE_H
