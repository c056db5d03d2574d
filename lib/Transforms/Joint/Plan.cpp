//===- Plan.cpp - Residuals of another framework's graph ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Joint/Plan.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;
namespace json = llvm::json;

namespace {
/// Describes the operations of one joint function, in program order.
class Planner {
public:
  explicit Planner(func::FuncOp joint) : joint(joint) {}

  FailureOr<json::Value> run();

private:
  LogicalResult visit(Operation &op);
  LogicalResult verifyKnown(Operation &op, Value operand);
  LogicalResult verifyOperands(Operation &op);
  LogicalResult visitBody(Operation &op, Block &body);
  /// Binds the argument of a body to `operand`, which `map` broadcasts.
  LogicalResult bind(OpOperand &operand, Value argument, AffineMap map);
  void visitKnown(Operation &op, ArrayAttr names);
  void visitResidual(ResidualOp residual);
  /// Adds a new node for the only result of `op`.
  void addNode(Operation &op, StringRef name, ArrayRef<json::Value> arguments,
               json::Object node = {});
  /// `value` as an argument of a node: its name, or its number.
  json::Value refer(Value value) const;

  func::FuncOp joint;
  /// The name of each value; a number for constants.
  llvm::DenseMap<Value, json::Value> references;
  llvm::DenseSet<Value> isNew;
  json::Array nodes, saved;
  json::Object operands;
};
} // namespace

/// The element type of `value`, as MLIR prints it.
static std::string describeElement(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << getElementTypeOrSelf(value);
  return text;
}

json::Value Planner::refer(Value value) const {
  auto it = references.find(value);
  assert(it != references.end() && "operands come first");
  return it->second;
}

void Planner::addNode(Operation &op, StringRef name,
                      ArrayRef<json::Value> arguments, json::Object node) {
  std::string result = ("fad_" + Twine(nodes.size())).str();
  node["name"] = result;
  node["op"] = name.str();
  node["args"] = json::Array(arguments);
  node["type"] = describeElement(op.getResult(0));
  nodes.push_back(std::move(node));
  references.try_emplace(op.getResult(0), result);
  isNew.insert(op.getResult(0));
}

void Planner::visitKnown(Operation &op, ArrayAttr names) {
  for (auto [name, result] :
       llvm::zip(names.getAsRange<StringAttr>(), op.getResults()))
    references.try_emplace(result, name.getValue());
  if (names.empty() || llvm::none_of(op.getOperands(), [&](Value operand) {
        return isNew.contains(operand);
      }))
    return;
  json::Array list;
  for (Value operand : op.getOperands())
    if (references.contains(operand))
      list.push_back(refer(operand));
  operands[cast<StringAttr>(names[0]).getValue()] = std::move(list);
}

void Planner::visitResidual(ResidualOp residual) {
  json::Value name = refer(residual.getValue());
  auto type = dyn_cast<RankedTensorType>(residual.getType());
  int64_t bits = 0;
  if (type && type.hasStaticShape() && type.getElementType().isIntOrFloat())
    bits = type.getNumElements() * std::max(8u, type.getElementTypeBitWidth());
  saved.push_back(json::Object{{"name", name},
                               {"bytes", bits / 8},
                               {"place", stringifyPlace(residual.getPlace())},
                               {"reason", residual.getReason()}});
  references.try_emplace(residual, name);
  if (isNew.contains(residual.getValue()))
    isNew.insert(residual);
}

LogicalResult Planner::bind(OpOperand &operand, Value argument, AffineMap map) {
  // Broadcasting pairs dimensions from the last one on.
  unsigned shift = map.getNumDims() - map.getNumResults();
  for (auto [index, expr] : llvm::enumerate(map.getResults()))
    if (expr != getAffineDimExpr(shift + index, map.getContext()) &&
        !isa<AffineConstantExpr>(expr))
      return operand.getOwner()->emitError(
          "the plan of a joint graph has no form for an operand with the "
          "dimensions in another order");
  references.insert_or_assign(argument, refer(operand.get()));
  if (isNew.contains(operand.get()))
    isNew.insert(argument);
  return success();
}

/// The name of a scalar operation in a plan.
static std::string describeScalar(Operation &op) {
  std::string name = op.getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += ("." + stringifyCmpFPredicate(compare.getPredicate())).str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += ("." + stringifyCmpIPredicate(compare.getPredicate())).str();
  return name;
}

/// The number `attr` in JSON, which has neither infinities nor NaN.
static json::Value describeNumber(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return json::Object{{"value", integer.getType().isInteger(1)
                                      ? integer.getValue().getZExtValue() != 0
                                      : integer.getInt()}};
  double number = cast<FloatAttr>(attr).getValueAsDouble();
  if (std::isfinite(number))
    return json::Object{{"value", number}};
  return json::Object{{"value", std::isnan(number) ? "nan"
                                : number > 0       ? "inf"
                                                   : "-inf"}};
}

/// Fails, with an error, if `operand` of `op` has no name and is no number.
LogicalResult Planner::verifyKnown(Operation &op, Value operand) {
  if (references.contains(operand))
    return success();
  return op.emitError() << "the plan of a joint graph has no form for an "
                           "operand that is a constant tensor, an empty one, "
                           "or the destination of a linalg.generic";
}

LogicalResult Planner::visitBody(Operation &op, Block &body) {
  for (Operation &inner : body.without_terminator()) {
    Attribute constant;
    if (matchPattern(&inner, m_Constant(&constant)) &&
        isa<IntegerAttr, FloatAttr>(constant)) {
      references.try_emplace(inner.getResult(0), describeNumber(constant));
      continue;
    }
    if (inner.getNumResults() != 1 || inner.getNumRegions() != 0)
      return inner.emitError() << "the plan of a joint graph has no form for '"
                               << inner.getName() << "'";
    SmallVector<json::Value> arguments;
    for (Value operand : inner.getOperands()) {
      if (failed(verifyKnown(inner, operand)))
        return failure();
      arguments.push_back(refer(operand));
    }
    addNode(inner, describeScalar(inner), arguments);
  }
  if (failed(verifyOperands(*body.getTerminator())))
    return failure();
  for (auto [yielded, result] :
       llvm::zip(body.getTerminator()->getOperands(), op.getResults())) {
    references.try_emplace(result, refer(yielded));
    if (isNew.contains(yielded))
      isNew.insert(result);
  }
  return success();
}

LogicalResult Planner::verifyOperands(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op.getOpOperands())
    if (!(structured && structured.isDpsInit(&operand)) &&
        failed(verifyKnown(op, operand.get())))
      return failure();
  return success();
}

LogicalResult Planner::visit(Operation &op) {
  if (failed(verifyOperands(op)))
    return failure();
  if (auto names = op.getAttrOfType<ArrayAttr>(FadDialect::kNodesAttr)) {
    visitKnown(op, names);
    return success();
  }
  if (auto residual = dyn_cast<ResidualOp>(op)) {
    visitResidual(residual);
    return success();
  }
  if (isa<tensor::EmptyOp>(op))
    return success();
  // Readers broadcast a number.
  Attribute constant;
  if (matchPattern(&op, m_Constant(&constant))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    if (isa<IntegerAttr, FloatAttr>(constant))
      references.try_emplace(op.getResult(0), describeNumber(constant));
    return success();
  }
  if (auto elementwise = dyn_cast<ElementwiseOp>(op)) {
    for (OpOperand &operand : op.getOpOperands())
      references.insert_or_assign(
          elementwise.getBodyArgument(operand.getOperandNumber()),
          refer(operand.get()));
    return visitBody(op, *elementwise.getBodyBlock());
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (generic && generic.getNumReductionLoops() == 0) {
    for (OpOperand *operand : generic.getDpsInputOperands())
      if (failed(bind(*operand, generic.getMatchingBlockArgument(operand),
                      generic.getMatchingIndexingMap(operand))))
        return failure();
    return visitBody(op, *generic.getBody());
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op);
      extract && extract.getIndices().empty()) {
    references.try_emplace(extract, refer(extract.getTensor()));
    return success();
  }
  if (auto pack = dyn_cast<PackOp>(op)) {
    addNode(op, "fad.pack", refer(pack.getCodes()),
            json::Object{{"bits", int64_t(pack.getBits())}});
    return success();
  }
  if (auto unpack = dyn_cast<UnpackOp>(op)) {
    json::Array shape(unpack.getType().getShape());
    addNode(op, "fad.unpack", refer(unpack.getBytes()),
            json::Object{{"bits", int64_t(unpack.getBits())},
                         {"shape", std::move(shape)}});
    return success();
  }
  return op.emitError() << "the plan of a joint graph has no form for '"
                        << op.getName() << "'";
}

FailureOr<json::Value> Planner::run() {
  for (auto [index, argument] : llvm::enumerate(joint.getArguments())) {
    auto names =
        joint.getArgAttrOfType<ArrayAttr>(index, FadDialect::kNodesAttr);
    references.try_emplace(
        argument, names ? json::Value(cast<StringAttr>(names[0]).getValue())
                        : json::Value(nullptr));
  }
  Block &block = joint.front();
  for (Operation &op : block.without_terminator())
    if (failed(visit(op)))
      return failure();
  if (failed(verifyOperands(*block.getTerminator())))
    return failure();
  json::Array results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(refer(result));
  return json::Value(json::Object{{"new", std::move(nodes)},
                                  {"operands", std::move(operands)},
                                  {"results", std::move(results)},
                                  {"saved", std::move(saved)}});
}

FailureOr<json::Value> fad::describePlan(func::FuncOp joint) {
  return Planner(joint).run();
}
