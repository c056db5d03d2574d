//===- Builder.cpp - Modules that Python builds ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module with one function, which Python builds operation by operation.
// Operations, types of numbers and cases of enumerations have their names in
// MLIR. A wrong one is an error with a message, at once or when the module is
// verified.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Module.h"
#include "fad/IR/Fad.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/variant.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad::python;

namespace {
/// A module while it is built, and afterwards nothing but its context.
struct Construction {
  std::shared_ptr<Context> context = std::make_shared<Context>();
  OwningOpRef<ModuleOp> module;
};

/// A value, which only the builder that has made it reads.
struct BuiltValue {
  std::shared_ptr<Construction> construction;
  Value value;
};
using BuiltValues = std::vector<BuiltValue>;

/// The name of a type of numbers; or the sizes of a tensor, of which None is
/// dynamic, and that of the type of its elements.
using TypeParts =
    std::variant<std::string,
                 std::pair<std::vector<std::optional<int64_t>>, std::string>>;
using Texts = std::vector<std::string>;
/// A unit, an integer of 64 bits, a text or a case of an enumeration, an array,
/// or a dense array. Of a constant, the bits.
using AttributeParts = std::variant<std::monostate, int64_t, std::string, Texts,
                                    std::vector<Texts>, std::vector<int64_t>>;
using Attributes = std::map<std::string, AttributeParts>;
/// The name of an operation, the numbers of its operands among the arguments
/// and the operations before, its type and its attributes.
using ScalarOp =
    std::tuple<std::string, std::vector<size_t>, std::string,
               std::vector<std::pair<std::string, AttributeParts>>>;
/// The types of the arguments, the operations, and the number and the type of
/// the result.
using ScalarBody =
    std::tuple<Texts, std::vector<ScalarOp>, std::pair<size_t, std::string>>;

template <typename AttrTy, typename Case>
Attribute wrapCase(MLIRContext *context, std::optional<Case> found) {
  return found ? AttrTy::get(context, *found) : Attribute();
}

class ModuleBuilder {
public:
  explicit ModuleBuilder(const std::string &name)
      : builder(&construction->context->get()), loc(builder.getUnknownLoc()),
        handler(builder.getContext(), [this](Diagnostic &diagnostic) {
          diagnostics.emplace_back(diagnostic);
        }) {
    construction->context->run([](MLIRContext &context) {
      for (StringRef dialect : {"func", "fad", "linalg", "math", "tensor"})
        context.getOrLoadDialect(dialect);
      return success();
    });
    construction->module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(construction->module->getBody());
    function = func::FuncOp::create(builder, loc, name,
                                    builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  /// Says where the next operations come from.
  void locate(const std::string &name) {
    loc = NameLoc::get(builder.getStringAttr(name));
  }

  BuiltValue addArgument(const TypeParts &type, const Attributes &attributes) {
    getValues({});
    BuiltValue value{construction,
                     function.front().addArgument(getType(type), loc)};
    argumentAttributes.push_back(getDictionary(attributes));
    return value;
  }

  /// The results of a new operation, whose region is `body` if it has one.
  BuiltValues create(const std::string &name, const BuiltValues &operands,
                     const std::vector<TypeParts> &types,
                     const Attributes &attributes,
                     const std::optional<ScalarBody> &body) {
    SmallVector<Value> values = getValues(operands);
    SmallVector<Type> results;
    for (const TypeParts &type : types)
      results.push_back(getType(type));
    BuiltValues made;
    for (Value result :
         insert(name, values, results, getAttributes(attributes, name, results),
                body ? &*body : nullptr)
             ->getResults())
      made.push_back({construction, result});
    return made;
  }

  /// The result of `body` for each element, of a type to whose shape operands
  /// are broadcast.
  BuiltValue map(const BuiltValues &operands, const ScalarBody &body,
                 const TypeParts &type, const Attributes &attributes) {
    SmallVector<Value> values = getValues(operands);
    auto to = dyn_cast<RankedTensorType>(getType(type));
    if (!to)
      fail("the result of a body is a tensor");
    NamedAttrList list = getAttributes(attributes);
    if (llvm::all_of(values, [&](Value value) {
          auto from = dyn_cast<RankedTensorType>(value.getType());
          return !from || from.getShape() == to.getShape();
        }))
      return {construction,
              insert("fad.elementwise", values, to, list, &body)->getResult(0)};
    addMaps(values, to, list);
    values.push_back(getEmpty(to));
    Operation *op = insert("linalg.generic", values, to, list, &body);
    // The result does not depend on the destination.
    op->getRegion(0).addArgument(to.getElementType(), loc);
    return {construction, op->getResult(0)};
  }

  /// Says which values another compiler computes where they are read.
  void fuse(int64_t reads, int64_t operations, int64_t sharedReads,
            int64_t sharedOperations, const Texts &once, int64_t splitRows,
            int64_t splitSums) {
    getValues({});
    auto fusion = fad::FusionAttr::getChecked(
        [&] { return emitError(loc); }, builder.getContext(), reads, operations,
        sharedReads, sharedOperations, splitRows, splitSums,
        once.empty() ? nullptr : getTexts(once));
    if (!fusion)
      raise();
    function->setAttr(fad::FadDialect::kFusesAttr, fusion);
  }

  Module finish(const BuiltValues &results,
                const std::vector<Attributes> &resultAttributes,
                const Attributes &attributes) {
    SmallVector<Value> values = getValues(results);
    loc = function.getLoc();
    SmallVector<Attribute> marks(values.size(), getDictionary({}));
    for (auto [mark, each] : llvm::zip(marks, resultAttributes))
      mark = getDictionary(each);
    for (NamedAttribute each : getAttributes(attributes))
      function->setAttr(each.getName(), each.getValue());
    function.setType(builder.getFunctionType(
        function.front().getArgumentTypes(), ValueRange(values).getTypes()));
    function.setAllArgAttrs(argumentAttributes);
    function.setAllResultAttrs(marks);
    func::ReturnOp::create(builder, loc, values);
    Module module(construction->context, std::move(construction->module));
    module.run([](ModuleOp op) { return verify(op); });
    return module;
  }

private:
  [[noreturn]] void raise() {
    throw DiagnosticError{std::exchange(diagnostics, {})};
  }
  [[noreturn]] void fail(const Twine &message) {
    throw DiagnosticError{{DiagnosticText("error", message.str(), loc)}};
  }

  Type getElement(const std::string &name) {
    Type &type = elements[name];
    if (!type)
      type = parseType(name, builder.getContext());
    if (!type) {
      diagnostics.clear();
      fail("there is no type '" + name + "'");
    }
    return type;
  }

  Type getType(const TypeParts &parts) {
    if (auto *name = std::get_if<std::string>(&parts))
      return getElement(*name);
    SmallVector<int64_t> shape;
    const auto &[sizes, element] = std::get<1>(parts);
    for (std::optional<int64_t> size : sizes)
      shape.push_back(size.value_or(ShapedType::kDynamic));
    auto type = RankedTensorType::getChecked([&] { return emitError(loc); },
                                             shape, getElement(element));
    if (!type)
      raise();
    return type;
  }

  SmallVector<Value> getValues(const BuiltValues &values) {
    if (!construction->module)
      fail("the module is finished; make another builder for another module");
    SmallVector<Value> list;
    for (const BuiltValue &each : values) {
      if (each.construction != construction)
        fail("value " + Twine(list.size()) + " is one of another builder");
      list.push_back(each.value);
    }
    return list;
  }

  ArrayAttr getTexts(const Texts &texts) {
    return builder.getStrArrayAttr(
        SmallVector<StringRef>(texts.begin(), texts.end()));
  }

  /// The case `text` of the enumeration that an attribute is of; a text where
  /// it is of none.
  Attribute getCase(StringRef op, StringRef name, StringRef text) {
    MLIRContext *context = builder.getContext();
    Attribute found;
    if (op == "arith.cmpf" && name == "predicate")
      found = wrapCase<arith::CmpFPredicateAttr>(
          context, arith::symbolizeCmpFPredicate(text));
    else if (op == "arith.cmpi" && name == "predicate")
      found = wrapCase<arith::CmpIPredicateAttr>(
          context, arith::symbolizeCmpIPredicate(text));
    else if (op == "fad.gelu" && name == "approximate")
      found = wrapCase<fad::GeluApproximationAttr>(
          context, fad::symbolizeGeluApproximation(text));
    else if (op == "fad.opaque" && name == "kind")
      found = wrapCase<fad::OpaqueKindAttr>(context,
                                            fad::symbolizeOpaqueKind(text));
    else
      return builder.getStringAttr(text);
    if (!found)
      fail("'" + text + "' is no " + name + " of '" + op + "'");
    return found;
  }

  Attribute getNumber(int64_t bits, Type type) {
    unsigned width = type.isIndex()        ? 64
                     : type.isIntOrFloat() ? type.getIntOrFloatBitWidth()
                                           : 0;
    if (width > 64 ||
        !(llvm::isIntN(width, bits) || llvm::isUIntN(width, bits))) {
      emitError(loc) << bits << " is no number of the type " << type;
      raise();
    }
    APInt number(width, bits, /*isSigned=*/true, /*implicitTrunc=*/true);
    if (auto real = dyn_cast<FloatType>(type))
      return FloatAttr::get(real, APFloat(real.getFloatSemantics(), number));
    return IntegerAttr::get(type, number);
  }

  /// The attribute `name` of `op`, whose results have `types`.
  Attribute getAttribute(StringRef op, StringRef name,
                         const AttributeParts &parts, TypeRange types) {
    return std::visit(
        llvm::makeVisitor(
            [&](std::monostate) -> Attribute { return builder.getUnitAttr(); },
            [&](int64_t integer) -> Attribute {
              return op == "arith.constant" && types.size() == 1
                         ? getNumber(integer, types[0])
                         : builder.getI64IntegerAttr(integer);
            },
            [&](const std::string &text) { return getCase(op, name, text); },
            [&](const Texts &texts) -> Attribute { return getTexts(texts); },
            [&](const std::vector<Texts> &lists) -> Attribute {
              SmallVector<Attribute> arrays;
              for (const Texts &texts : lists)
                arrays.push_back(getTexts(texts));
              return builder.getArrayAttr(arrays);
            },
            [&](const std::vector<int64_t> &integers) -> Attribute {
              return builder.getDenseI64ArrayAttr(integers);
            }),
        parts);
  }

  template <typename Pairs>
  NamedAttrList getAttributes(const Pairs &pairs, StringRef op = "",
                              TypeRange types = {}) {
    NamedAttrList list;
    for (const auto &[name, parts] : pairs)
      list.set(name, getAttribute(op, name, parts, types));
    return list;
  }

  DictionaryAttr getDictionary(const Attributes &attributes) {
    return getAttributes(attributes).getDictionary(builder.getContext());
  }

  /// Adds the attributes of linalg.generic by which operands are broadcast:
  /// dimensions are paired from the last one on.
  void addMaps(ValueRange operands, RankedTensorType to, NamedAttrList &list) {
    int64_t rank = to.getRank();
    SmallVector<AffineMap> maps;
    for (Value operand : operands) {
      auto from = dyn_cast<RankedTensorType>(operand.getType());
      ArrayRef<int64_t> shape = from ? from.getShape() : ArrayRef<int64_t>();
      int64_t dim = rank - shape.size();
      if (dim < 0)
        fail("an operand of a body has more dimensions than the result");
      SmallVector<AffineExpr> places;
      for (int64_t size : shape) {
        places.push_back(size == 1 && to.getDimSize(dim) != 1
                             ? builder.getAffineConstantExpr(0)
                             : builder.getAffineDimExpr(dim));
        ++dim;
      }
      maps.push_back(AffineMap::get(rank, 0, places, builder.getContext()));
    }
    maps.push_back(builder.getMultiDimIdentityMap(rank));
    list.set("indexing_maps", builder.getAffineMapArrayAttr(maps));
    SmallVector<Attribute> iterators(
        rank, linalg::IteratorTypeAttr::get(builder.getContext(),
                                            utils::IteratorType::parallel));
    list.set("iterator_types", builder.getArrayAttr(iterators));
  }

  /// A tensor without values, at the beginning of the function.
  Value getEmpty(Type type) {
    OpBuilder::InsertionGuard guard(builder);
    if (empty.empty())
      builder.setInsertionPointToStart(&function.front());
    else
      builder.setInsertionPointAfterValue(empty.back().second);
    auto [it, isNew] = empty.try_emplace(type);
    if (isNew)
      it->second = insert("tensor.empty", {}, type, {})->getResult(0);
    return it->second;
  }

  Operation *insert(StringRef name, ValueRange operands, TypeRange types,
                    NamedAttrList attributes,
                    const ScalarBody *body = nullptr) {
    StringRef dialect = name.split('.').first;
    builder.getContext()->getOrLoadDialect(dialect);
    auto known = RegisteredOperationName::lookup(name, builder.getContext());
    if (!known)
      fail("there is no operation '" + name + "'");
    // Destinations are the last operands, as many as there are results.
    int32_t inputs = operands.size() - types.size(), outputs = types.size();
    if (known->hasTrait<OpTrait::AttrSizedOperandSegments>() &&
        known->hasInterface<DestinationStyleOpInterface>())
      attributes.set("operandSegmentSizes",
                     builder.getDenseI32ArrayAttr({inputs, outputs}));
    if (failed(known->verifyInherentAttrs(attributes, [&] {
          return emitError(loc) << "'" << name << "' op ";
        })))
      raise();
    OperationState state(loc, *known, operands, types, attributes.getAttrs());
    if (body) {
      Region &region = *state.addRegion();
      addBody(*body, region, (dialect + ".yield").str());
    }
    return builder.create(state);
  }

  void addBody(const ScalarBody &body, Region &region, StringRef terminator) {
    const auto &[types, operations, result] = body;
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&region);
    SmallVector<Value> values;
    for (const std::string &type : types)
      values.push_back(block->addArgument(getElement(type), loc));
    auto find = [&](size_t number) {
      if (number >= values.size())
        fail("a body reads value " + Twine(number) + " where it has " +
             Twine(values.size()));
      return values[number];
    };
    for (const auto &[name, operands, type, attributes] : operations) {
      Type element = getElement(type);
      Operation *op = insert(name, llvm::map_to_vector(operands, find), element,
                             getAttributes(attributes, name, element));
      values.push_back(op->getResult(0));
    }
    insert(terminator, find(result.first), {}, {});
  }

  std::shared_ptr<Construction> construction = std::make_shared<Construction>();
  OpBuilder builder;
  Location loc;
  Diagnostics diagnostics;
  // Nobody else has the context until the module is finished.
  ScopedDiagnosticHandler handler;
  func::FuncOp function;
  SmallVector<Attribute> argumentAttributes;
  llvm::StringMap<Type> elements;
  llvm::MapVector<Type, Value> empty;
};
} // namespace

void mlir::fad::python::bindBuilder(nb::module_ &module) {
  Attributes none;
  nb::class_<BuiltValue>(module, "Value");
  nb::class_<ModuleBuilder>(module, "Builder")
      .def(nb::init<const std::string &>(), nb::arg("name"))
      .def("argument", &ModuleBuilder::addArgument, nb::arg("type"),
           nb::arg("attributes") = none)
      .def("create", &ModuleBuilder::create, nb::arg("name"),
           nb::arg("operands"), nb::arg("types"), nb::arg("attributes") = none,
           nb::arg("body") = nb::none())
      .def("map", &ModuleBuilder::map, nb::arg("operands"), nb::arg("body"),
           nb::arg("type"), nb::arg("attributes") = none)
      .def("fuse", &ModuleBuilder::fuse, nb::arg("reads"),
           nb::arg("operations"), nb::arg("shared_reads"),
           nb::arg("shared_operations"), nb::arg("once") = Texts(),
           nb::arg("split_rows") = fad::FusionAttr::kNoLimit,
           nb::arg("split_sums") = fad::FusionAttr::kNoLimit)
      .def("locate", &ModuleBuilder::locate, nb::arg("name"))
      .def("finish", &ModuleBuilder::finish, nb::arg("results"),
           nb::arg("result_attributes") = std::vector<Attributes>(),
           nb::arg("attributes") = none);
}
