// What the headers and libraries in C++ give a compiler, in short: fad nests a function.
// Prints how many values forward returns.
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

int main() {
  DialectRegistry registry;
  registry.insert<fad::FadDialect, func::FuncDialect>();
  fad::registerAllRules(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {\n"
      "  %y = fad.silu %x : tensor<4xf64>\n"
      "  return %y : tensor<4xf64>\n"
      "}",
      &context);
  if (!module)
    return 1;
  PassManager pm(&context);
  fad::NestOptions options;
  options.policy = fad::Policy::fad;
  fad::buildNestPipeline(pm, options);
  if (failed(pm.run(*module)))
    return 1;
  auto forward = module->lookupSymbol<func::FuncOp>("f_forward");
  if (!forward)
    return 1;
  llvm::outs() << "values of forward: " << forward.getNumResults() << "\n";
  return 0;
}
