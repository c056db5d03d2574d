//===- GlobalState.cpp - State that outlives a call -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
  reset->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                 builder.getUnitAttr());
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
