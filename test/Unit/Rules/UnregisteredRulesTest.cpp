//===- UnregisteredRulesTest.cpp - Tests of rules nobody registered -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/UnregisteredRules.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Pipelines/NestedPair.h"
#include "fad/Rules/Rules.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fad;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<FadDialect>();
  return registry;
}

/// The errors of fad-nest on `source` in a context of `registry`.
static std::string nest(const DialectRegistry &registry, StringRef source) {
  MLIRContext context(registry);
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(errors)
        << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(source, &context, "f.mlir");
  EXPECT_TRUE(module);
  NestOptions options;
  options.policy = Policy::fad;
  bool isNested = succeeded(NestedPair::create(*module, options));
  EXPECT_EQ(isNested, errors.empty());
  return errors;
}

// One function for each dialect.
static const std::pair<StringRef, StringRef> sources[] = {
    {"arith", R"mlir(func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.mulf %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    })mlir"},
    {"fad",
     R"mlir(func.func @f(%x: tensor<4xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>)
                     -> tensor<4xf32> {
      %y = fad.scatter_add %u at (%i : tensor<3xi32>) dims [0] into %x
          : tensor<3xf32> -> tensor<4xf32>
      return %y : tensor<4xf32>
    })mlir"},
    {"math", R"mlir(func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    })mlir"},
    {"scf",
     R"mlir(func.func @f(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %y = scf.for %i = %zero to %n step %one iter_args(%z = %x)
          -> tensor<4xf32> {
        %e = math.exp %z : tensor<4xf32>
        scf.yield %e : tensor<4xf32>
      }
      return %y : tensor<4xf32>
    })mlir"},
    {"tensor", R"mlir(func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
      %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2]
          : tensor<4xf32> into tensor<2x2xf32>
      return %y : tensor<2x2xf32>
    })mlir"}};

TEST(UnregisteredRules, AreNamedWithTheirDialect) {
  DialectRegistry without = makeRegistry();
  DialectRegistry with = makeRegistry();
  registerAllRules(with);
  for (auto [dialect, source] : sources) {
    EXPECT_NE(nest(without, source)
                  .find("no derivative rules are registered for " +
                        dialect.str() + ": call fad::registerAllRules"),
              std::string::npos)
        << dialect.str() << ": " << nest(without, source);
    EXPECT_NE(nest(without, source).find("f.mlir"), std::string::npos);
    EXPECT_EQ(nest(with, source), "");
  }
}

// The list has every dialect that gets rules, and no other.
TEST(UnregisteredRules, AreOfTheDialectsThatGetRules) {
  auto findDialectsOfRules = [](const DialectRegistry &registry) {
    MLIRContext context(registry);
    context.loadAllAvailableDialects();
    std::set<std::string> dialects;
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.hasInterface<DerivativeOpInterface>() ||
          name.hasInterface<AdjointOpInterface>())
        dialects.insert(name.getDialectNamespace().str());
    return dialects;
  };
  DialectRegistry with = makeRegistry();
  registerAllRules(with);
  std::set<std::string> listed;
  for (const DialectWithRules &entry : getDialectsWithRules()) {
    listed.insert(entry.dialect.str());
    MLIRContext context(with);
    context.loadAllAvailableDialects();
    auto name = RegisteredOperationName::lookup(entry.operation, &context);
    ASSERT_TRUE(name) << entry.operation.str();
    EXPECT_TRUE(name->hasInterface<DerivativeOpInterface>() ||
                name->hasInterface<AdjointOpInterface>());
  }
  EXPECT_EQ(findDialectsOfRules(with), listed);
  // The dialect's own operations have their rules without it.
  EXPECT_EQ(findDialectsOfRules(makeRegistry()), std::set<std::string>{"fad"});
}
