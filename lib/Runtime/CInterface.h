//===- CInterface.h - Functions that can be called from C -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_CINTERFACE_H
#define FAD_LIB_RUNTIME_CINTERFACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::fad {

/// Has the lowering to LLVM make a function `_mlir_ciface_NAME`, which takes
/// pointers to descriptors. The attribute is that of
/// `LLVM::LLVMDialect::getEmitCWrapperAttrName`, whose header takes longer to
/// compile than any other of this folder.
inline void addCInterface(func::FuncOp function) {
  function->setAttr("llvm.emit_c_interface",
                    UnitAttr::get(function.getContext()));
}

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_CINTERFACE_H
