//===- Npy.cpp - Files of numpy arrays ------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fad;
using llvm::createStringError;
using llvm::Expected;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kMagic("\x93NUMPY");

namespace {
/// The header of a file: the dictionary in it.
struct NpyHeader {
  /// Byte order, kind and bytes of an element, such as `<f4`.
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};
} // namespace

/// The dictionary of a header, a literal of Python, as JSON:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
static std::string toJSON(StringRef literal) {
  std::string json;
  for (char c : literal) {
    // Lists of JSON have brackets, and no comma at their end; true and false
    // are in lower case. Python 2 wrote sizes as 3L.
    if ((c == ')' || c == '}') && StringRef(json).rtrim().ends_with(","))
      json.erase(json.rfind(','));
    size_t place = StringRef("'()TFL").find(c);
    json += place == StringRef::npos ? c : "\"[]tf "[place];
  }
  return json;
}

static bool parseDictionary(StringRef literal, NpyHeader &header) {
  // The parser of JSON recurses, and no header has more levels.
  if (literal.contains('[') || literal.count('(') > 1 || literal.count('{') > 1)
    return false;
  Expected<llvm::json::Value> value = llvm::json::parse(toJSON(literal));
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  llvm::json::Path::Root root;
  llvm::json::ObjectMapper fields(*value, root);
  return fields && value->getAsObject()->size() == 3 &&
         fields.map("descr", header.descr) &&
         fields.map("fortran_order", header.fortranOrder) &&
         fields.map("shape", header.shape) &&
         llvm::all_of(header.shape, [](int64_t size) { return size >= 0; });
}

/// Takes the header from the front of `file`.
static Expected<NpyHeader> takeHeader(StringRef &file) {
  if (!file.consume_front(kMagic))
    return createStringError("is not a .npy file");
  // Two bytes of version, then the length of the dictionary: two bytes, or
  // four from version 2 on.
  unsigned major = file.empty() ? 1 : static_cast<uint8_t>(file.front());
  if (major < 1 || major > 3)
    return createStringError("has version " + Twine(major) +
                             " of the format; versions 1 to 3 are known");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (file.size() < 2 + lengthBytes)
    return createStringError("is truncated");
  using namespace llvm::support;
  size_t length = major == 1 ? endian::read16le(file.data() + 2)
                             : endian::read32le(file.data() + 2);
  file = file.drop_front(2 + lengthBytes);
  if (file.size() < length)
    return createStringError("is truncated");
  StringRef literal = file.take_front(length);
  file = file.drop_front(length);
  NpyHeader header;
  if (parseDictionary(literal, header))
    return header;
  std::string shown;
  llvm::raw_string_ostream(shown).write_escaped(
      literal.rtrim().take_front(100));
  return createStringError("has a header that is not understood: " + shown);
}

/// Writes the bytes of a file before its elements.
static void writeHeader(raw_ostream &os, const Twine &descr,
                        ArrayRef<int64_t> shape) {
  std::string text =
      ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (").str();
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream);
  // A tuple of one has a comma.
  stream << (shape.size() == 1 ? ",), }" : "), }");
  // Spaces and a newline align the elements.
  size_t prefix = kMagic.size() + 4;
  text.resize(llvm::alignTo(prefix + text.size() + 1, 64) - prefix - 1, ' ');
  text += '\n';
  char length[2];
  llvm::support::endian::write16le(length, text.size());
  os << kMagic << StringRef("\x01\x00", 2) << StringRef(length, 2) << text;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The numpy type of elements of type `type`, without its byte order.
static std::string getNumpyType(Type type) {
  std::string size = std::to_string(getHostElementSize(type));
  if (type.isBF16())
    return "f4";
  if (isa<FloatType>(type))
    return "f" + size;
  if (type.isInteger(1))
    return "b1";
  return (type.isUnsignedInteger() ? "u" : "i") + size;
}

static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [index, size] : llvm::enumerate(shape))
    text +=
        (index ? ", " : "") +
        (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size));
  return text + ")";
}

/// Whether elements of numpy type `found` can be read as elements of `type`.
static bool isReadable(StringRef found, Type type) {
  if (type.isBF16())
    return found == "f2" || found == "f4" || found == "f8";
  std::string expected = getNumpyType(type);
  if (found == expected)
    return true;
  bool areIntegers = (found.consume_front("i") || found.consume_front("u")) &&
                     !isa<FloatType>(type) && !type.isInteger(1);
  return areIntegers && found == StringRef(expected).drop_front();
}

/// Checks the header of a file against `type`, whose sizes it determines.
static llvm::Error checkHeader(const NpyHeader &header, RankedTensorType type,
                               StringRef found) {
  bool isBigEndian = StringRef(header.descr).starts_with(">");
  Type elementType = type.getElementType();
  std::string name;
  llvm::raw_string_ostream(name) << elementType;
  if (isBigEndian && !found.ends_with("1"))
    return createStringError("has big-endian elements (" + header.descr +
                             "); save it with a dtype that begins with '<'");
  if (!isReadable(found, elementType))
    return createStringError("has elements of dtype " + found + ", but dtype " +
                             getNumpyType(elementType) + " is expected for " +
                             name);
  if (header.shape.size() != size_t(type.getRank()) ||
      failed(verifyCompatibleShape(header.shape, type.getShape())))
    return createStringError("has shape " + formatShape(header.shape) +
                             ", but shape " + formatShape(type.getShape()) +
                             " is expected");
  return llvm::Error::success();
}

/// The element type of files for elements of type `type`.
static Type getStoredType(StringRef found, Type type) {
  if (!type.isBF16())
    return type;
  MLIRContext *context = type.getContext();
  if (found == "f8")
    return Float64Type::get(context);
  if (found == "f2")
    return Float16Type::get(context);
  return Float32Type::get(context);
}

/// Copies `size` bytes per element from Fortran order to C order.
static void transpose(const char *from, char *to, ArrayRef<int64_t> shape,
                      size_t size) {
  SmallVector<int64_t> index(shape.size());
  int64_t count = ShapedType::getNumElements(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    for (size_t dim = shape.size(); dim-- > 0;)
      offset = offset * shape[dim] + index[dim];
    std::memcpy(to + i * size, from + offset * size, size);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

/// Parses the contents of a file; errors are texts that follow "the file".
static Expected<HostTensor> parseNpy(StringRef data, RankedTensorType type) {
  Expected<NpyHeader> header = takeHeader(data);
  if (!header)
    return header.takeError();
  StringRef found = StringRef(header->descr).ltrim("<>|=");
  if (llvm::Error error = checkHeader(*header, type, found))
    return error;
  Type storedType = getStoredType(found, type.getElementType());
  auto fileType = RankedTensorType::get(header->shape, storedType);
  std::optional<int64_t> size = HostTensor::getNumBytes(fileType);
  if (!size || data.size() != size_t(*size))
    return createStringError(
        "has " + Twine(data.size()) + " bytes of elements, but " +
        (size ? Twine(*size) : Twine("more than memory holds")) +
        " are expected for shape " + formatShape(header->shape));
  Expected<HostTensor> stored = HostTensor::create(fileType);
  if (!stored)
    return stored.takeError();
  auto *elements = static_cast<char *>(stored->data());
  if (header->fortranOrder)
    transpose(data.data(), elements, header->shape,
              getHostElementSize(storedType));
  else if (!data.empty())
    std::memcpy(elements, data.data(), data.size());
  // Generated code assumes that an i1 is 0 or 1.
  if (storedType.isInteger(1))
    for (char &element : llvm::MutableArrayRef(elements, data.size()))
      element = element != 0;
  if (auto floatType = dyn_cast<FloatType>(type.getElementType());
      floatType && floatType != storedType)
    return stored->convertFloats(floatType);
  return stored;
}

Expected<HostTensor> fad::readNpy(StringRef path, RankedTensorType type) {
  // A pipe may be endless, or block until a writer opens it.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      !llvm::sys::fs::is_regular_file(status))
    return createStringError("cannot read '" + path +
                             "': it is a folder, a pipe or a device; give a "
                             "file");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  Expected<HostTensor> tensor = parseNpy((*buffer)->getBuffer(), type);
  if (!tensor)
    return createStringError("'" + path + "' " +
                             llvm::toString(tensor.takeError()));
  return tensor;
}

void fad::writeNpy(raw_ostream &os, const HostTensor &tensor) {
  std::string numpyType = getNumpyType(tensor.getElementType());
  char byteOrder = numpyType.back() == '1' ? '|' : '<';
  writeHeader(os, Twine(byteOrder) + numpyType, tensor.getShape());
  if (!tensor.getElementType().isBF16()) {
    os.write(static_cast<const char *>(tensor.data()), tensor.getNumBytes());
    return;
  }
  for (int64_t i = 0, end = tensor.size(); i < end; ++i) {
    float value = tensor.getFloat(i);
    os.write(reinterpret_cast<const char *>(&value), sizeof(value));
  }
}
