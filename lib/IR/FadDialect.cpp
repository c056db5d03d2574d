//===- FadDialect.cpp - The fad dialect and its attributes ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Detach.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Operations of the dialect have the same meaning in every function.
struct FadInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

#include "fad/IR/FadDialect.cpp.inc"
#include "fad/IR/FadEnums.cpp.inc"

/// Parses `[0, 1]`.
static ParseResult parseNumbers(AsmParser &parser,
                                SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(numbers.emplace_back());
  });
}

static void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "fad/IR/FadAttributes.cpp.inc"

LogicalResult FusionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t reads, int64_t operations,
                                 int64_t sharedReads, int64_t sharedOperations,
                                 int64_t splitRows, int64_t splitSums,
                                 ArrayAttr once) {
  for (int64_t limit :
       {reads, operations, sharedReads, sharedOperations, splitRows, splitSums})
    if (limit < 0)
      return emitError() << "a limit of #fad.fusion is " << limit
                         << "; give at least 0, or leave it out";
  if (once && !llvm::all_of(once, llvm::IsaPred<StringAttr>))
    return emitError() << "'once' of #fad.fusion lists names of operations";
  return success();
}

bool FusionAttr::isShared(Operation *op) const {
  return !getOnce() ||
         !llvm::is_contained(getOnce().getAsValueRange<StringAttr>(),
                             op->getName().getStringRef());
}

void FadDialect::initialize() {
  addInterfaces<FadInliner>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fad/IR/FadAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fad/IR/FadOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "fad/IR/Activations.cpp.inc"
      >();
  addOperations<DetachOp>();
}

LogicalResult ResidualOp::verifyHasLowering() {
  if (getPlace() == Place::device)
    return success();
  return emitOpError("is on the host, and no pass of fad copies it there and "
                     "back; remove 'on host'");
}

Operation *FadDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Whether `attr` is a 64-bit integer that is not negative.
static bool isNumber(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0;
}

/// Checks the arguments and results that `request` names.
static LogicalResult verifyRequest(Operation *op, NamedAttribute request) {
  StringRef name = request.getName();
  auto value = dyn_cast<RequestAttr>(request.getValue());
  if (!value)
    return op->emitOpError("expects '") << name << "' to be #fad.request<...>";
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError("'")
           << name << "' belongs on a function; move it to one";
  auto verify = [&](StringRef kind, ArrayRef<int64_t> numbers,
                    unsigned count) -> LogicalResult {
    for (int64_t number : numbers)
      if (number < 0 || number >= count)
        return op->emitOpError("'")
               << name << "' names " << kind << " " << number
               << ", but the function has " << count;
    return success();
  };
  if (failed(verify("argument", value.getWrt(), function.getNumArguments())))
    return failure();
  return verify("result", value.getResults(), function.getNumResults());
}

/// Whether the attribute `name` is what a framework says of the memory that it
/// takes for an operation.
static bool isOfMemory(StringRef name) {
  return name == FadDialect::kFusesAttr ||
         name == FadDialect::kOverwritesAttr ||
         name == FadDialect::kMaterializesAttr ||
         name == FadDialect::kScratchAttr;
}

/// Checks what a framework says of the memory that it takes for `op`.
static LogicalResult verifyMemoryAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  bool isOnFunction = isa<FunctionOpInterface>(op);
  if (isOnFunction && name == FadDialect::kFusesAttr) {
    if (!isa<FusionAttr>(attr.getValue()))
      return op->emitOpError("expects '") << name << "' to be #fad.fusion<...>";
  } else if (name == FadDialect::kScratchAttr) {
    if (!isNumber(attr.getValue()))
      return op->emitOpError("expects '")
             << name << "' to be a non-negative 64-bit integer";
  } else if (!isa<UnitAttr>(attr.getValue())) {
    return op->emitOpError("expects '") << name << "' to be a unit attribute";
  }
  if (isOnFunction && name != FadDialect::kFusesAttr)
    return op->emitOpError("'")
           << name << "' belongs on an operation in a function; move it to one";
  if (name == FadDialect::kOverwritesAttr &&
      (op->getNumOperands() == 0 || op->getNumResults() == 0))
    return op->emitOpError("expects an operand and a result for '")
           << name
           << "', which says that the result may take the memory of the "
           << "operand";
  if (name == FadDialect::kMaterializesAttr && op->getNumOperands() == 0)
    return op->emitOpError("expects an operand for '")
           << name << "', which says that the operands are in memory";
  return success();
}

/// Checks the selections of values that a framework proposes for a function.
static LogicalResult verifyProposals(Operation *op, Attribute attr) {
  auto isList = [](Attribute proposal) {
    auto names = dyn_cast<ArrayAttr>(proposal);
    return names && llvm::all_of(names, llvm::IsaPred<StringAttr>);
  };
  auto proposals = dyn_cast<ArrayAttr>(attr);
  if (!isa<FunctionOpInterface>(op) || !proposals ||
      !llvm::all_of(proposals, isList))
    return op->emitOpError("expects '")
           << FadDialect::kProposalsAttr
           << "' on a function, to list lists of names of nodes";
  return success();
}

LogicalResult FadDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kRequestAttr)
    return verifyRequest(op, attr);
  if (name == kPullbackAttr && (!isa<FunctionOpInterface>(op) ||
                                !isa<FlatSymbolRefAttr>(attr.getValue())))
    return op->emitOpError("expects '")
           << name << "' on a function, to name its backward function";
  if (name == kClassAttr && !isa<OpClassAttr>(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be #fad.class<fad> or #fad.class<nfad>";
  if (name == kRegionAttr && !isNumber(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be a non-negative 64-bit integer";
  if ((name == kTapeAttr || name == kSharesTiesAttr) &&
      !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError("expects '") << name << "' to be a unit attribute";
  if (name == kAdjointOfAttr && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be the name of an operation";
  if (name == kNodesAttr) {
    auto names = dyn_cast<ArrayAttr>(attr.getValue());
    if (!names || names.size() != op->getNumResults() ||
        !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return op->emitOpError("expects '")
             << name << "' to list a name for each result";
  }
  if (isOfMemory(name))
    return verifyMemoryAttribute(op, attr);
  if (name == kProposalsAttr)
    return verifyProposals(op, attr.getValue());
  if (name == kKernelAttr && !isa<SymbolRefAttr>(attr.getValue()))
    return op->emitOpError("expects '") << name << "' to name a kernel";
  if ((name == kBlockSizeAttr || name == kTileSizeAttr) &&
      !isNumber(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be a non-negative 64-bit integer";
  if (name == kCotangentAttr || name == kGradientAttr || name == kResidualAttr)
    return op->emitOpError("'")
           << name << "' belongs on an argument or result of a function";
  if (name == kOwnedAttr)
    return op->emitOpError("'")
           << name << "' belongs on an argument of a function; move it to one";
  return success();
}

/// Attributes of arguments and of results are checked alike.
static LogicalResult verifyValueAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  if ((name == FadDialect::kCotangentAttr ||
       name == FadDialect::kGradientAttr) &&
      !isNumber(attr.getValue()))
    return op->emitOpError("expects '")
           << name << "' to be a non-negative 64-bit integer";
  auto names = dyn_cast<ArrayAttr>(attr.getValue());
  if (name == FadDialect::kNodesAttr &&
      (!names || names.size() != 1 || !isa<StringAttr>(names[0])))
    return op->emitOpError("expects '") << name << "' to list one name";
  if ((name == FadDialect::kResidualAttr || name == FadDialect::kOwnedAttr) &&
      !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError("expects '") << name << "' to be a unit attribute";
  if (isOfMemory(name))
    return op->emitOpError("'")
           << name << "' belongs on an operation, not on an argument or result";
  return success();
}

LogicalResult FadDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attr) {
  return verifyValueAttribute(op, attr);
}

LogicalResult FadDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned number,
                                                      NamedAttribute attr) {
  if (attr.getName() == kOwnedAttr)
    return op->emitOpError("'")
           << kOwnedAttr << "' belongs on an argument, but is on result "
           << number << "; remove it: what is returned is the caller's";
  return verifyValueAttribute(op, attr);
}
