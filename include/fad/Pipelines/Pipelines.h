//===- Pipelines.h - Pipelines ----------------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_PIPELINES_H
#define FAD_PIPELINES_PIPELINES_H

#include "fad/Analysis/OptionParsers.h"
#include "fad/Codegen/Passes.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;

namespace fad {

/// Options of `fad-nest`.
struct NestOptions : WithSelectionOptions<PassPipelineOptions<NestOptions>> {
  Option<std::string> entry{
      *this, "entry",
      llvm::cl::desc("Function to differentiate; default: the only one with "
                     "fad.request, or else the only public function with a "
                     "body")};
  ListOption<int64_t, ValueParser<int64_t>> wrt{
      *this, "wrt",
      llvm::cl::desc("Arguments to differentiate with respect to; default: "
                     "every floating-point tensor")};
  ListOption<int64_t, ValueParser<int64_t>> results{
      *this, "results",
      llvm::cl::desc("Results to differentiate, each of which gets a "
                     "cotangent; default: every one of floating point")};
  ListOption<int64_t, ValueParser<int64_t>> cotangents{
      *this, "cotangents",
      llvm::cl::desc("Arguments that are cotangents, of a function that is "
                     "differentiated already and has no marks")};
  ListOption<int64_t, ValueParser<int64_t>> gradients{
      *this, "gradients",
      llvm::cl::desc("Results that are gradients, of such a function; default: "
                     "those that depend on a cotangent")};
  ListOption<int64_t, ValueParser<int64_t>> cotangentsOf{
      *this, "cotangents-of",
      llvm::cl::desc("Results that the cotangents belong to; default: all, in "
                     "order")};
  ListOption<int64_t, ValueParser<int64_t>> gradientsOf{
      *this, "gradients-of",
      llvm::cl::desc("Arguments that the gradients belong to; default: all, in "
                     "order")};
  Option<bool, ValueParser<bool>> reuseResiduals{
      *this, "reuse-residuals",
      llvm::cl::desc("Let backward overwrite and free residuals: it can be "
                     "called once for each call of forward"),
      llvm::cl::init(false)};
};

/// The first part of `fad-nest`: from a forward function on tensors to
/// elementwise regions.
void buildPartitionPipeline(OpPassManager &pm, const NestOptions &options);

/// The part of `fad-nest` before `fad-split`: from a forward function on
/// tensors to the joint function with its residuals selected.
void buildSelectPipeline(OpPassManager &pm, const NestOptions &options);

/// The part of `fad-nest` from `fad-split` on.
void buildSplitPipeline(OpPassManager &pm, bool reuseResiduals = false);

/// `fad-nest`: from a forward function on tensors to the pair of a forward and
/// a backward function.
void buildNestPipeline(OpPassManager &pm, const NestOptions &options);

/// Options of `fad-to-cpu`.
struct ToCPUOptions : PassPipelineOptions<ToCPUOptions> {
  Option<bool, ValueParser<bool>> parallel{
      *this, "parallel",
      llvm::cl::desc("Run loops on all cores through OpenMP"),
      llvm::cl::init(true)};
  Option<bool, ValueParser<bool>> resultsToArguments{
      *this, "results-to-arguments",
      llvm::cl::desc("Write results that are tensors to buffers, which "
                     "functions take after their arguments"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> checkShapes{
      *this, "check-shapes",
      llvm::cl::desc("Abort with a message where sizes at run time do not go "
                     "together, instead of reading beyond the end of a tensor"),
      llvm::cl::init(false)};
  Option<uint64_t, ValueParser<uint64_t>> alignment{
      *this, "alignment",
      llvm::cl::desc("Bytes that buffers are aligned to; 0 leaves that to "
                     "malloc"),
      llvm::cl::init(64)};
  Option<int64_t, ValueParser<int64_t>> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Bits of a vector: 512 with AVX-512, 256 with AVX2, 128 "
                     "with NEON; 0 for loops over elements"),
      llvm::cl::init(256)};
  Option<bool, ValueParser<bool>> tiesAway{
      *this, "ties-away",
      llvm::cl::desc("Round ties to bf16 away from zero where a function has a "
                     "larger error: GELU with its derivative takes 12.6 us in "
                     "place of 14.9 (16384 elements, one thread, AVX2)"),
      llvm::cl::init(true)};
  Option<Contractions, NamedParser<Contractions>> contractions{
      *this, "contractions",
      llvm::cl::desc(
          "Contractions that are calls of fad's runtime, which calls "
          "a library of linear algebra"),
      llvm::cl::init(Contractions::loops), getContractionsValues()};
  ListOption<std::string> contractionTypes{
      *this, "contraction-types",
      llvm::cl::desc("Types of elements that the library has; default: all")};
};

/// The first part of `fad-to-cpu`: from tensors to operations of `linalg`,
/// `tensor` and `scf` on tensors, each of which becomes one on buffers. Of
/// `options`, those about shapes and contractions matter.
void buildToLinalgPipeline(OpPassManager &pm, const ToCPUOptions &options);

/// `fad-to-cpu`: from tensors to the LLVM dialect for the host.
void buildToCPUPipeline(OpPassManager &pm, const ToCPUOptions &options);

/// `fad-to-iree`: from tensors to operations that IREE's compiler takes.
void buildToIREEPipeline(OpPassManager &pm);

/// Options of `fad-to-nvvm`.
struct ToNVVMOptions : PassPipelineOptions<ToNVVMOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("Architecture, sm_70 or newer"),
                           llvm::cl::init("sm_80")};
  Option<int64_t, ValueParser<int64_t>> blockSize{
      *this, "block-size",
      llvm::cl::desc("Threads in a block; 0: what suits the chip"),
      llvm::cl::init(0)};
  Option<int64_t, ValueParser<int64_t>> accesses{
      *this, "accesses",
      llvm::cl::desc(
          "Vectors of each tensor that a thread loads; 0: what suits "
          "the chip"),
      llvm::cl::init(0)};
  Option<std::string> features{*this, "features",
                               llvm::cl::desc("PTX version, such as +ptx80"),
                               llvm::cl::init("")};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("CUDA toolkit; default: CUDA_HOME, CUDA_PATH, the usual "
                     "prefixes, then the PyPI wheels")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("What to emit: isa (PTX), bin (cubin) or fatbin"),
      llvm::cl::init("isa")};
  Option<bool, ValueParser<bool>> contract{
      *this, "contract",
      llvm::cl::desc("Fuse products and sums that reach 16 bits only: at most "
                     "22 instructions for an element of GELU with its "
                     "derivative in place of 24 (bf16, sm_90)"),
      llvm::cl::init(true)};
};

/// `fad-to-nvvm`: outlines each elementwise operation as a kernel and compiles
/// the kernels to PTX, a cubin or a fatbin.
void buildToNVVMPipeline(OpPassManager &pm, const ToNVVMOptions &options);

/// Options of `fad-to-cuda`.
struct ToCUDAOptions : ToCPUOptions, ToNVVMOptions {};

/// `fad-to-cuda`: from tensors to the LLVM dialect for the host, and kernels
/// for elementwise operations, which the host launches through upstream's
/// interface to GPUs. Both host and device have to reach the tensors.
void buildToCUDAPipeline(OpPassManager &pm, const ToCUDAOptions &options);

/// Registers all pipelines under the names above.
void registerPipelines();

} // namespace fad
} // namespace mlir

#endif // FAD_PIPELINES_PIPELINES_H
