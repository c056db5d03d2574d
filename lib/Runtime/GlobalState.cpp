//===- GlobalState.cpp - State that outlives a call -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalState.h"
#include "CInterface.h"
#include "fad/Runtime/Preconditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;
using namespace mlir::fad;

func::FuncOp fad::addResetOfGlobals(ModuleOp module) {
  SmallVector<std::pair<ml_program::GlobalOp, ElementsAttr>> globals;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr()))
      if (global.getIsMutable())
        globals.emplace_back(global, value);
  if (globals.empty())
    return nullptr;

  OpBuilder builder(module.getContext());
  Location loc = module.getLoc();
  auto reset = func::FuncOp::create(loc, "reset_globals",
                                    builder.getFunctionType({}, {}));
  addCInterface(reset);
  SymbolTable(module).insert(reset);
  builder.setInsertionPointToStart(reset.addEntryBlock());
  for (auto [global, value] : globals) {
    Value initial = arith::ConstantOp::create(builder, loc, value);
    ml_program::GlobalStoreOp::create(
        builder, loc, FlatSymbolRefAttr::get(global.getSymNameAttr()), initial);
  }
  func::ReturnOp::create(builder, loc);
  return reset;
}

/// The types of the globals `names`.
static SmallVector<Type> getTypes(ModuleOp module,
                                  ArrayRef<std::string> names) {
  return llvm::map_to_vector(names, [&](const std::string &name) {
    return module.lookupSymbol<ml_program::GlobalOp>(name).getType();
  });
}

std::string fad::addLoadOfGlobals(ModuleOp module,
                                  ArrayRef<std::string> names) {
  SmallVector<Type> types = getTypes(module, names);
  OpBuilder builder(module.getContext());
  Location loc = module.getLoc();
  auto load = func::FuncOp::create(loc, "load_globals",
                                   builder.getFunctionType({}, types));
  SymbolTable(module).insert(load);
  builder.setInsertionPointToStart(load.addEntryBlock());
  SmallVector<Value> values;
  for (auto [name, type] : llvm::zip_equal(names, types))
    values.push_back(ml_program::GlobalLoadOp::create(
        builder, loc, type, SymbolRefAttr::get(builder.getContext(), name)));
  func::ReturnOp::create(builder, loc, values);
  return load.getSymName().str();
}

std::string fad::addStoreOfGlobals(ModuleOp module,
                                   ArrayRef<std::string> names) {
  OpBuilder builder(module.getContext());
  Location loc = module.getLoc();
  auto store = func::FuncOp::create(
      loc, "store_globals",
      builder.getFunctionType(getTypes(module, names), {}));
  SymbolTable(module).insert(store);
  builder.setInsertionPointToStart(store.addEntryBlock());
  for (auto [name, value] : llvm::zip_equal(names, store.getArguments()))
    ml_program::GlobalStoreOp::create(
        builder, loc, SymbolRefAttr::get(builder.getContext(), name), value);
  func::ReturnOp::create(builder, loc);
  return store.getSymName().str();
}
