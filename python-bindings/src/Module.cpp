//===- Module.cpp - MLIR modules in Python --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "Bindings.h"
#include "fad/Runtime/HostTensor.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad::python;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The characters of a `str`, or the bytes of a `bytes`, without a copy.
static StringRef getSource(nb::handle source) {
  if (PyBytes_Check(source.ptr()))
    return StringRef(PyBytes_AsString(source.ptr()),
                     PyBytes_Size(source.ptr()));
  Py_ssize_t size;
  const char *data = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
  if (!data)
    throw nb::python_error();
  return StringRef(data, size);
}

static Module parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  auto context = std::make_shared<Context>();
  auto op = context->run(
      [&](MLIRContext &mlirContext) -> FailureOr<OwningOpRef<ModuleOp>> {
        auto sources = std::make_shared<llvm::SourceMgr>();
        sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
        auto parsed = parseSourceFile<ModuleOp>(sources, &mlirContext);
        if (!parsed)
          return failure();
        return parsed;
      });
  return Module(std::move(context), std::move(op));
}

static Module parseSource(nb::handle source, const std::string &filename) {
  return parse(llvm::MemoryBuffer::getMemBuffer(
      getSource(source), filename, /*RequiresNullTerminator=*/false));
}

[[noreturn]] static void throwOSError(std::error_code error,
                                      const std::string &path) {
  errno = error.value();
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw nb::python_error();
}

static Module parseFile(const nb::bytes &name) {
  std::string path = name.c_str();
  // Input that may never end is no program.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      (status.type() == llvm::sys::fs::file_type::character_file ||
       status.type() == llvm::sys::fs::file_type::block_file))
    throwOSError(std::make_error_code(std::errc::invalid_argument), path);
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    throwOSError(buffer.getError(), path);
  return parse(std::move(*buffer));
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

/// Adds the passes that `pipeline` names, with or without the name of the
/// operation that they run on.
static LogicalResult parsePipeline(StringRef pipeline, OpPassManager &pm,
                                   raw_ostream &message) {
  if (!pipeline.ltrim().starts_with("builtin.module("))
    return parsePassPipeline(pipeline, pm, message);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, message);
  if (failed(parsed))
    return failure();
  pm = std::move(*parsed);
  return success();
}

/// A message of the parser of pipelines, without the place, which is in a text
/// that has no name, and without the line that it shows.
static StringRef getPipelineMessage(StringRef message) {
  auto [place, rest] = message.split(": error: ");
  return (rest.empty() ? message : rest).trim().split('\n').first;
}

static void runPipeline(Module &module, const std::string &pipeline) {
  // A module that passes have left half done is of no use.
  module.transform([&](ModuleOp op) -> FailureOr<OwningOpRef<ModuleOp>> {
    PassManager pm(op.getContext());
    std::string message;
    llvm::raw_string_ostream os(message);
    if (failed(parsePipeline(pipeline, pm, os)))
      return emitError(UnknownLoc::get(op.getContext()))
             << "cannot read the pipeline '" << pipeline
             << "': " << getPipelineMessage(message);
    OwningOpRef<ModuleOp> copy = op.clone();
    if (failed(pm.run(*copy)))
      return failure();
    return copy;
  });
}

//===----------------------------------------------------------------------===//
// Inspection
//===----------------------------------------------------------------------===//

/// The name that numpy has for elements of type `type`, or nothing.
static std::string getNumpyName(Type type) {
  if (!fad::isHostElementType(type))
    return "";
  if (type.isInteger(1))
    return "bool";
  if (type.isBF16())
    return "bfloat16";
  unsigned width = 8 * fad::getHostElementSize(type);
  const char *kind = isa<FloatType>(type)       ? "float"
                     : type.isUnsignedInteger() ? "uint"
                                                : "int";
  return kind + std::to_string(width);
}

TypeDescription::TypeDescription(Type type)
    : isScalar(!isa<ShapedType>(type)),
      dtype(getNumpyName(getElementTypeOrSelf(type))) {
  llvm::raw_string_ostream(text) << type;
  if (isScalar)
    shape.emplace();
  else if (auto shaped = cast<ShapedType>(type); shaped.hasRank())
    shape.emplace(shaped.getShape().begin(), shaped.getShape().end());
}

nb::tuple TypeDescription::toPython() const {
  nb::object sizes = nb::none();
  if (shape) {
    nb::list list;
    for (int64_t size : *shape)
      if (ShapedType::isDynamic(size))
        list.append(nb::none());
      else
        list.append(size);
    sizes = nb::tuple(list);
  }
  return nb::make_tuple(text, sizes, dtype, isScalar);
}

/// Flags for a module that has been verified, as all are that the parser and
/// passes leave.
static OpPrintingFlags getFlags() { return OpPrintingFlags().assumeVerified(); }

static std::string printModule(Module &module,
                               std::optional<int64_t> maxElements,
                               bool locations) {
  std::string text;
  module.run([&](ModuleOp op) {
    OpPrintingFlags flags = getFlags();
    if (maxElements)
      flags.elideLargeElementsAttrs(*maxElements)
          .elideLargeResourceString(*maxElements);
    if (locations)
      flags.enableDebugInfo();
    llvm::raw_string_ostream os(text);
    op.print(os, flags);
    return success();
  });
  return text;
}

static void writeModule(Module &module, const nb::bytes &name, bool bytecode) {
  std::string path = name.c_str();
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    module.run([&](ModuleOp op) -> LogicalResult {
      if (bytecode)
        return writeBytecodeToFile(op, os);
      op.print(os, getFlags());
      os << '\n';
      return success();
    });
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    throwOSError(error, path);
}

static std::vector<std::string> getFunctions(Module &module) {
  std::vector<std::string> names;
  module.run([&](ModuleOp op) {
    for (auto function : op.getOps<func::FuncOp>())
      names.push_back(function.getSymName().str());
    return success();
  });
  return names;
}

/// Reports that `module` has no function `name`, and lists those that it has.
static LogicalResult reportUnknownFunction(ModuleOp module, StringRef name) {
  auto diagnostic = emitError(module.getLoc())
                    << "there is no function @" << name << "; the module has ";
  auto functions = module.getOps<func::FuncOp>();
  if (functions.empty())
    return diagnostic << "none";
  llvm::interleaveComma(functions, diagnostic, [&](func::FuncOp function) {
    diagnostic << "@" << function.getSymName();
  });
  return diagnostic;
}

/// The types of the arguments and of the results of a function.
static nb::tuple getSignature(Module &module, const std::string &name) {
  SmallVector<TypeDescription> arguments, results;
  module.run([&](ModuleOp op) -> LogicalResult {
    auto function = op.lookupSymbol<func::FuncOp>(name);
    if (!function)
      return reportUnknownFunction(op, name);
    for (Type type : function.getArgumentTypes())
      arguments.emplace_back(type);
    for (Type type : function.getResultTypes())
      results.emplace_back(type);
    return success();
  });
  return nb::make_tuple(toPythonList(arguments), toPythonList(results));
}

/// The origin of each result of a function: the number of an argument or, from
/// their number on, that of a value that is computed.
static std::vector<size_t> getReturned(Module &module,
                                       const std::string &name) {
  std::vector<size_t> returned;
  module.run([&](ModuleOp op) -> LogicalResult {
    auto function = op.lookupSymbol<func::FuncOp>(name);
    if (!function || !function.getBody().hasOneBlock())
      return emitError(op.getLoc())
             << "there is no function @" << name << " of one block";
    llvm::MapVector<Value, size_t> numbers;
    for (Value argument : function.getArguments())
      numbers.insert({argument, numbers.size()});
    for (Value value :
         function.getBody().front().getTerminator()->getOperands())
      returned.push_back(numbers.insert({value, numbers.size()}).first->second);
    return success();
  });
  return returned;
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

void mlir::fad::python::bindModule(nb::module_ &module) {
  nb::class_<Module>(module, "Module")
      .def("print", printModule, nb::arg("max_elements").none(),
           nb::arg("locations"))
      .def("write", writeModule, nb::arg("path"), nb::arg("bytecode"))
      .def("verify",
           [](Module &self) {
             self.run([](ModuleOp op) { return verify(op); });
           })
      .def("run", runPipeline, nb::arg("pipeline"))
      .def("clone",
           [](Module &self) {
             return Module(self.getContext(), self.run([](ModuleOp op) {
               return FailureOr<OwningOpRef<ModuleOp>>(op.clone());
             }));
           })
      .def("functions", getFunctions)
      .def("signature", getSignature, nb::arg("name"))
      .def("returned", getReturned, nb::arg("name"));
  module.def("parse", parseSource, nb::arg("source"), nb::arg("filename"));
  module.def("parse_file", parseFile, nb::arg("path"));
}
