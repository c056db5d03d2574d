//===- SplitFunctionsTest.cpp - Functions with many loops, in parts -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace mlir::fad;

/// A function that adds a number to all elements of an array, `count` times,
/// each time to another array.
static std::string writeChain(int count) {
  std::string text = "declare ptr @malloc(i64)\n"
                     "define ptr @chain(ptr %p0) {\n"
                     "  br label %b1\n";
  for (int i = 1; i <= count; ++i)
    text += llvm::formatv(R"(b{0}:
  %p{0} = call ptr @malloc(i64 64)
  br label %loop{0}
loop{0}:
  %i{0} = phi i64 [ 0, %b{0} ], [ %n{0}, %loop{0} ]
  %from{0} = getelementptr float, ptr %p{1}, i64 %i{0}
  %old{0} = load float, ptr %from{0}
  %new{0} = fadd float %old{0}, 1.0
  %to{0} = getelementptr float, ptr %p{0}, i64 %i{0}
  store float %new{0}, ptr %to{0}
  %n{0} = add i64 %i{0}, 1
  %done{0} = icmp eq i64 %n{0}, 16
  br i1 %done{0}, label %b{2}, label %loop{0}
)",
                          i, i - 1, i + 1);
  return text +
         llvm::formatv("b{0}:\n  ret ptr %p{1}\n}\n", count + 1, count).str();
}

namespace {
struct SplitFunctionsTest : testing::Test {
  void parse(const std::string &text) {
    llvm::SMDiagnostic diagnostic;
    module = llvm::parseAssemblyString(text, diagnostic, context);
    ASSERT_TRUE(module) << diagnostic.getMessage().str();
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};
} // namespace

TEST_F(SplitFunctionsTest, FewLoopsStay) {
  parse(writeChain(64));
  EXPECT_FALSE(splitFunctions(*module));
  EXPECT_EQ(module->size(), 2u);
}

TEST_F(SplitFunctionsTest, EqualLoopsAreOneFunction) {
  parse(writeChain(65));
  EXPECT_TRUE(splitFunctions(*module));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  // The first loop reads what the caller may know by another pointer, too.
  unsigned distinct = 0, shared = 0;
  for (llvm::Function &function : *module) {
    if (function.isDeclaration() || function.getName() == "chain")
      continue;
    EXPECT_TRUE(function.hasFnAttribute(llvm::Attribute::NoInline));
    ASSERT_EQ(function.arg_size(), 2u);
    bool areAll = llvm::all_of(function.args(), [](llvm::Argument &argument) {
      return argument.hasNoAliasAttr();
    });
    ++(areAll ? distinct : shared);
  }
  EXPECT_EQ(distinct, 1u);
  EXPECT_EQ(shared, 1u);
}

TEST_F(SplitFunctionsTest, WrappersAreNotOptimized) {
  parse("define i64 @f(i64 %x) {\n"
        "  ret i64 %x\n"
        "}\n"
        "define void @_mlir_ciface_f(ptr %x) {\n"
        "  %a = load i64, ptr %x\n"
        "  %b = call i64 @f(i64 %a)\n"
        "  store i64 %b, ptr %x\n"
        "  ret void\n"
        "}\n"
        "define void @_mlir__mlir_ciface_f(ptr %list) {\n"
        "  %x = load ptr, ptr %list\n"
        "  call void @_mlir_ciface_f(ptr %x)\n"
        "  ret void\n"
        "}\n"
        "define void @_mlir_f(ptr %list) {\n"
        "  %x = load i64, ptr %list\n"
        "  %y = call i64 @f(i64 %x)\n"
        "  ret void\n"
        "}\n");
  simplifyInterface(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string names;
  for (llvm::Function &function : *module) {
    names += function.getName().str() + " ";
    bool isWrapper = function.getName().contains("_mlir_ciface_");
    EXPECT_EQ(function.hasOptNone(), isWrapper);
    EXPECT_EQ(function.hasFnAttribute(llvm::Attribute::NoInline), isWrapper);
  }
  EXPECT_EQ(names, "f _mlir_ciface_f _mlir__mlir_ciface_f _mlir_f ");
}

/// The number of stores in `module`, optimized.
static unsigned countStores(llvm::Module &module, bool isNetwork) {
  llvm::InitializeNativeTarget();
  auto machine = llvm::cantFail(
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost())
          .createTargetMachine());
  optimize(module, *machine, /*level=*/3, isNetwork);
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  unsigned count = 0;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      count += llvm::count_if(block, llvm::IsaPred<llvm::StoreInst>);
  return count;
}

// A loop of 8 iterations that stores a number that cannot be vectorized.
TEST_F(SplitFunctionsTest, LoopsOfNetworksAreNotUnrolled) {
  std::string loop = R"(
declare i64 @next()
define void @fill(ptr %to) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %n, %loop ]
  %value = call i64 @next()
  %at = getelementptr i64, ptr %to, i64 %i
  store i64 %value, ptr %at
  %n = add i64 %i, 1
  %done = icmp eq i64 %n, 8
  br i1 %done, label %end, label %loop
end:
  ret void
}
)";
  parse(loop);
  EXPECT_EQ(countStores(*module, /*isNetwork=*/true), 1u);
  parse(loop);
  EXPECT_EQ(countStores(*module, /*isNetwork=*/false), 8u);
}
