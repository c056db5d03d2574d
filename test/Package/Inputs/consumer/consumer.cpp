// A program outside the source tree: reads a file with operations of fad.
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<mlir::fad::FadDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      argv[1], mlir::ParserConfig(&context));
  if (!module)
    return 1;
  module->print(llvm::outs());
  return 0;
}
