//===- AttachNVVMTarget.cpp - Attach a checked NVVM target ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADATTACHNVVMTARGET
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

static constexpr unsigned kOldestChip = 70;

/// The number in a name such as sm_90a or ptx80, and the rest of the name.
static std::pair<unsigned, StringRef> parseName(StringRef name,
                                                StringRef prefix) {
  unsigned number = 0;
  if (!name.consume_front(prefix) || name.consumeInteger(10, number))
    return {0, name};
  return {number, name};
}

/// The names among `keys` that start with `prefix` and have at least the number
/// `least`, in ascending order.
template <typename KeyRange>
static std::vector<StringRef> selectNames(const KeyRange &keys,
                                          StringRef prefix, unsigned least) {
  std::vector<StringRef> names;
  for (const auto &key : keys)
    if (parseName(key.Key, prefix).first >= least)
      names.push_back(key.Key);
  llvm::sort(names, [&](StringRef a, StringRef b) {
    return parseName(a, prefix) < parseName(b, prefix);
  });
  return names;
}

/// The lowest PTX version for `chip`, as 78 for 7.8, or failure after a
/// diagnostic at `loc`. LLVM does not export it and ends the process for a
/// lower one, but writes it to the header of an empty module.
static FailureOr<unsigned> getLowestVersion(Location loc,
                                            const llvm::Target &target,
                                            const llvm::Triple &triple,
                                            StringRef chip) {
  std::unique_ptr<llvm::TargetMachine> machine(target.createTargetMachine(
      triple, chip, /*Features=*/"", llvm::TargetOptions(), std::nullopt));
  llvm::LLVMContext context;
  llvm::Module module("", context);
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  FailureOr<SmallString<0>> ptx = LLVM::ModuleToObject::translateModuleToISA(
      module, *machine, [&] { return mlir::emitError(loc); });
  if (failed(ptx))
    return failure();
  StringRef digits = StringRef(*ptx).split(".version ").second;
  unsigned major = 0, minor = 0;
  if (digits.consumeInteger(10, major) || !digits.consume_front(".") ||
      digits.consumeInteger(10, minor))
    return mlir::emitError(loc, "this LLVM writes no PTX version for ")
           << chip << "; leave out the features";
  return 10 * major + minor;
}

namespace {
struct FadAttachNVVMTargetPass
    : fad::impl::FadAttachNVVMTargetBase<FadAttachNVVMTargetPass> {
  using FadAttachNVVMTargetBase::FadAttachNVVMTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3,
                                            kTriple, chip, features);
    // A module that has a target keeps it.
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      if (!kernels.getTargetsAttr())
        kernels.setTargetsAttr(ArrayAttr::get(&getContext(), {target}));
  }

  /// Fails, with the reason, unless LLVM knows the options.
  LogicalResult checkOptions() {
    NVVM::SerializeGPUModuleBase::init();
    llvm::Triple triple(kTriple);
    std::string error;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target)
      return mlir::emitError(getOperation().getLoc(),
                             "this LLVM cannot emit PTX: ")
             << error << "; use one built with the NVPTX target";
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        target->createMCSubtargetInfo(triple, "", ""));
    std::vector<StringRef> chips =
        selectNames(info->getAllProcessorDescriptions(), "sm_", kOldestChip);
    if (!llvm::is_contained(chips, StringRef(chip)))
      return mlir::emitError(getOperation().getLoc(), "unknown chip '")
             << chip << "'; give one of: " << llvm::join(chips, ", ");
    if (features.empty())
      return success();
    FailureOr<unsigned> lowest =
        getLowestVersion(getOperation().getLoc(), *target, triple, chip);
    if (failed(lowest))
      return failure();
    std::vector<StringRef> versions =
        selectNames(info->getAllProcessorFeatures(), "ptx", *lowest);
    if (!StringRef(features).starts_with("+") ||
        !llvm::is_contained(versions, StringRef(features).drop_front()))
      return mlir::emitError(getOperation().getLoc(), "features '")
             << features << "' are no PTX version for " << chip
             << "; give one of: +" << llvm::join(versions, ", +");
    return success();
  }

  static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";
};
} // namespace
