//===- CompiledModule.h - Functions compiled for the host -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_COMPILEDMODULE_H
#define FAD_RUNTIME_COMPILEDMODULE_H

#include "fad/Runtime/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir {
class DialectRegistry;
class ExecutionEngine;

namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// Registers what compiling needs beyond the dialects of the module.
void registerRuntimeExtensions(DialectRegistry &registry);

/// Fails, with an error, where an argument or result of `function` has no
/// HostTensor.
LogicalResult checkSignature(func::FuncOp function);

/// Memory that a call took, in buffers of tensors.
struct CallMemory {
  /// Most bytes at a time beyond those that were there before.
  int64_t peakBytes = 0;
  int64_t allocations = 0;
};

/// What a module is compiled for.
struct CompileOptions {
  /// Run loops on all cores, where there is OpenMP.
  bool parallel = true;
  /// The architecture, such as "sm_90", that elementwise operations run on; the
  /// host if empty. `useCUDA` has been called before.
  std::string cudaChip;
};

/// The public functions of a module, compiled for the host. Their arguments
/// and results are ranked tensors and scalars that have a HostTensor.
class CompiledModule {
public:
  /// Compiles `module`, of which nothing useful is left. Emits an error where
  /// that fails.
  static FailureOr<CompiledModule> compile(ModuleOp module,
                                           CompileOptions options = {});

  CompiledModule(CompiledModule &&);
  CompiledModule &operator=(CompiledModule &&);
  ~CompiledModule();

  /// Calls function `name`, which exists, with arguments of the types that it
  /// takes. Results may share elements with arguments and with each other.
  /// Fails, with a message, where a `cf.assert` fails or memory is lacking. In
  /// a parallel loop both end the process.
  llvm::Expected<SmallVector<HostTensor>>
  call(StringRef name, ArrayRef<HostTensor> arguments,
       CallMemory *memory = nullptr) const {
    return consume(name, SmallVector<HostTensor>(arguments), memory);
  }

  /// The same, but gives the function, to overwrite and free, those of its
  /// arguments with `fad.owned` that nobody else shares. It gets copies of
  /// others.
  llvm::Expected<SmallVector<HostTensor>>
  consume(StringRef name, SmallVector<HostTensor> arguments,
          CallMemory *memory = nullptr) const;

  /// Gives every `ml_program.global`, which calls may change, its initial
  /// value again.
  void resetGlobals() const;

private:
  /// What a result of a function is: what the compiled code computes, or a
  /// copy of an argument or of an earlier result, which it does not.
  struct Result {
    enum class Source { Computed, Argument, Result };
    Source source = Source::Computed;
    unsigned index = 0;
    RankedTensorType type;
    bool isScalar = false;
  };
  struct Function {
    SmallVector<bool> isScalarArgument;
    /// The arguments that the function frees.
    SmallVector<unsigned> ownedArguments;
    SmallVector<Result> results;
    void (*invoke)(void **) = nullptr;

    /// The results that the compiled code computes.
    auto getComputed() const {
      return llvm::make_filter_range(results, [](const Result &result) {
        return result.source == Result::Source::Computed;
      });
    }
  };
  class ResultBlock;

  CompiledModule();
  LogicalResult prepare(ModuleOp module);
  static Function prepare(func::FuncOp function);
  LogicalResult createEngine(ModuleOp module);

  llvm::StringMap<Function> functions;
  std::unique_ptr<ExecutionEngine> engine;
  /// The function that resets the globals, and its name; none where there is
  /// nothing to reset.
  void (*reset)(void **) = nullptr;
  std::string resetName;
  bool usesCUDA = false;
};

} // namespace fad
} // namespace mlir

#endif // FAD_RUNTIME_COMPILEDMODULE_H
