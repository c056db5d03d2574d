//===- CompiledModule.h - Functions compiled for the host -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_COMPILEDMODULE_H
#define FAD_RUNTIME_COMPILEDMODULE_H

#include "fad/Codegen/Passes.h"
#include "fad/Runtime/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir {
class DialectRegistry;

namespace func {
class FuncOp;
} // namespace func

namespace fad {
class LinkedCode;
struct ToCPUOptions;

/// Registers the translations to LLVM's IR that compilation needs beyond
/// `registerAllDialects`.
void registerRuntimeExtensions(DialectRegistry &registry);

/// Fails, with an error, if an argument or result of `function` has no
/// HostTensor.
LogicalResult checkSignature(func::FuncOp function);

/// The memory of a call, in buffers of tensors.
struct CallMemory {
  /// The peak, in bytes beyond those allocated before the call.
  int64_t peakBytes = 0;
  int64_t allocations = 0;
};

/// While it lives, parallel loops that this thread calls run in `threads`
/// threads, which sleep between loops: another library has work for its own
/// meanwhile.
class SharedProcessors {
public:
  explicit SharedProcessors(int threads);
  ~SharedProcessors();
  SharedProcessors(const SharedProcessors &) = delete;
  SharedProcessors &operator=(const SharedProcessors &) = delete;

private:
  /// Those before.
  int threads, milliseconds;
};

/// The target of compilation.
struct CompileOptions {
  /// Run loops on all cores, if OpenMP is available.
  bool parallel = true;
  /// The architecture, such as "sm_90", for elementwise operations; empty for
  /// the host. Requires `useCUDA`.
  std::string cudaChip;
  /// Whether compiling takes precedence over the time of calls, which few
  /// optimizations shorten then.
  bool quickly = false;
  /// The contractions that a library computes, as in `fad-to-cpu`.
  Contractions contractions = Contractions::automatic;
  /// Whether the user's `CompileCache` is looked up first, and written.
  bool useCache = true;
  /// Write results to the caller's buffers, by `getPacked`, in place of `call`.
  bool resultsToArguments = false;
};

/// Sets what `fad-to-cpu` does with contractions on this machine: `wanted`, of
/// the types that its library has. Where there is none, they are loops, and a
/// note says so once if `module` has any. Fails, with an error, if `wanted` is
/// `library` then.
LogicalResult setContractions(ToCPUOptions &pipeline, Contractions wanted,
                              ModuleOp module);

/// The public functions of a module, compiled for the host. Their arguments
/// and results are ranked tensors and scalars that have a HostTensor.
class CompiledModule {
public:
  /// Compiles `module` and consumes it. Emits an error on failure.
  static FailureOr<CompiledModule> compile(ModuleOp module,
                                           CompileOptions options = {});

  CompiledModule(CompiledModule &&);
  CompiledModule &operator=(CompiledModule &&);
  ~CompiledModule();

  /// Calls function `name`, which exists, with arguments of its types. Results
  /// may share elements with arguments and with each other. Fails, with a
  /// message, if a `cf.assert` fails or memory is lacking; in a parallel loop,
  /// both end the process.
  llvm::Expected<SmallVector<HostTensor>>
  call(StringRef name, ArrayRef<HostTensor> arguments,
       CallMemory *memory = nullptr) const {
    return consume(name, SmallVector<HostTensor>(arguments), memory);
  }

  /// The same, but the function overwrites and frees its arguments with
  /// `fad.owned`; it gets copies of those with other owners.
  llvm::Expected<SmallVector<HostTensor>>
  consume(StringRef name, SmallVector<HostTensor> arguments,
          CallMemory *memory = nullptr) const;

  /// The code of function `name` of a module that was compiled with
  /// `resultsToArguments`. It takes the addresses of the arguments, and
  /// then of the results that are no arguments: of each a scalar, or a pointer
  /// to a descriptor, whose buffer a result is written to. Null if there is no
  /// such function, a result is a scalar, or the function frees arguments.
  void (*getPacked(StringRef name) const)(void **);

  /// Resets every `ml_program.global`, which calls may change, to its initial
  /// value.
  void resetGlobals() const;

private:
  /// The origin of a result of a function: the compiled code computes it, or
  /// the call copies an argument or an earlier result.
  struct Result {
    enum class Source { Computed, Argument, Result };
    Source source = Source::Computed;
    unsigned index = 0;
    RankedTensorType type;
    bool isScalar = false;
    /// The place of a computed result in the block that compiled code writes.
    size_t offset = 0;
  };
  struct Function {
    SmallVector<bool> isScalarArgument;
    /// The arguments that the function frees.
    SmallVector<unsigned> ownedArguments;
    SmallVector<Result> results;
    /// The size of the block of results, in words of 64 bits.
    size_t blockSize = 0;
    void (*invoke)(void **) = nullptr;

    /// The results that the compiled code computes.
    auto getComputed() const {
      return llvm::make_filter_range(results, [](const Result &result) {
        return result.source == Result::Source::Computed;
      });
    }
  };

  CompiledModule();
  LogicalResult prepare(ModuleOp module);
  static Function prepare(func::FuncOp function);
  /// Gives computed results their places.
  static void layOut(Function &function);
  /// The results in `block`, which compiled code has written.
  static llvm::Expected<SmallVector<HostTensor>>
  unpack(const Function &function, ArrayRef<int64_t> block,
         ArrayRef<HostTensor> arguments);
  /// Links `object` and finds the functions in it.
  llvm::Error link(std::unique_ptr<llvm::MemoryBuffer> object);

  llvm::StringMap<Function> functions;
  std::unique_ptr<LinkedCode> code;
  /// The function that resets the globals, and its name; empty if there are
  /// none to reset.
  void (*reset)(void **) = nullptr;
  std::string resetName;
  bool usesCUDA = false;
};

} // namespace fad
} // namespace mlir

#endif // FAD_RUNTIME_COMPILEDMODULE_H
