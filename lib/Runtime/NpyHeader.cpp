//===- NpyHeader.cpp - Headers of .npy files ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpyHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include <optional>

using namespace mlir;
using namespace mlir::fad;

static constexpr StringLiteral kMagic("\x93NUMPY");

namespace {
/// Reads the Python dictionary literal of a header:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
/// Every method returns false if the text has another form.
class DictionaryParser {
public:
  DictionaryParser(StringRef text, NpyHeader &header)
      : rest(text), header(header) {}

  bool parse() {
    if (!consume("{"))
      return false;
    while (!consume("}")) {
      std::optional<std::string> key = parseString();
      if (!key || !consume(":") || !parseValue(*key))
        return false;
      if (!consume(",") && !peek("}"))
        return false;
    }
    skipSpace();
    return rest.empty() && keys.size() == 3;
  }

private:
  void skipSpace() { rest = rest.ltrim(); }
  bool peek(StringRef token) {
    skipSpace();
    return rest.starts_with(token);
  }
  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }

  std::optional<std::string> parseString();
  std::optional<int64_t> parseSize();
  bool parseShape();
  bool parseValue(StringRef key);

  StringRef rest;
  NpyHeader &header;
  llvm::StringSet<> keys;
};
} // namespace

std::optional<std::string> DictionaryParser::parseString() {
  skipSpace();
  char quote = rest.empty() ? 0 : rest.front();
  size_t end = rest.find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == StringRef::npos)
    return std::nullopt;
  StringRef value = rest.slice(1, end);
  // The text is no name of a type, and a message may print it to a terminal.
  if (!llvm::all_of(value, llvm::isPrint))
    return std::nullopt;
  rest = rest.drop_front(end + 1);
  return value.str();
}

std::optional<int64_t> DictionaryParser::parseSize() {
  skipSpace();
  int64_t size;
  // Python 2 wrote 3L.
  if (rest.consumeInteger(10, size) || size < 0)
    return std::nullopt;
  (void)rest.consume_front("L");
  return size;
}

bool DictionaryParser::parseShape() {
  if (!consume("("))
    return false;
  while (!consume(")")) {
    std::optional<int64_t> size = parseSize();
    if (!size)
      return false;
    header.shape.push_back(*size);
    if (!consume(",") && !peek(")"))
      return false;
  }
  return true;
}

bool DictionaryParser::parseValue(StringRef key) {
  if (!keys.insert(key).second)
    return false;
  if (key == "shape")
    return parseShape();
  if (key == "fortran_order") {
    header.fortranOrder = consume("True");
    return header.fortranOrder || consume("False");
  }
  if (key != "descr")
    return false;
  std::optional<std::string> descr = parseString();
  if (descr)
    header.descr = *descr;
  return descr.has_value();
}

llvm::Expected<NpyHeader> mlir::fad::parseNpyHeader(StringRef file) {
  if (!file.consume_front(kMagic))
    return llvm::createStringError("is not a .npy file");
  // Two bytes of version, then the length of the dictionary: two bytes, or
  // four from version 2 on.
  unsigned major = file.empty() ? 1 : static_cast<uint8_t>(file.front());
  if (major < 1 || major > 3)
    return llvm::createStringError("has version " + Twine(major) +
                                   " of the format; versions 1 to 3 are known");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (file.size() < 2 + lengthBytes)
    return llvm::createStringError("is truncated");
  using namespace llvm::support;
  size_t length = major == 1 ? endian::read16le(file.data() + 2)
                             : endian::read32le(file.data() + 2);
  file = file.drop_front(2 + lengthBytes);
  if (file.size() < length)
    return llvm::createStringError("is truncated");
  NpyHeader header;
  header.dataOffset = kMagic.size() + 2 + lengthBytes + length;
  StringRef text = file.take_front(length);
  if (DictionaryParser(text, header).parse())
    return header;
  std::string shown;
  llvm::raw_string_ostream(shown).write_escaped(text.rtrim().take_front(100));
  return llvm::createStringError("has a header that is not understood: " +
                                 shown);
}

std::string mlir::fad::formatNpyHeader(StringRef descr,
                                       ArrayRef<int64_t> shape) {
  std::string text =
      ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (").str();
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  // A tuple of one has a comma.
  os << (shape.size() == 1 ? ",), }" : "), }");
  // Spaces and a newline align the elements.
  size_t prefix = kMagic.size() + 4;
  text.resize(llvm::alignTo(prefix + text.size() + 1, 64) - prefix - 1, ' ');
  text += '\n';
  char length[2];
  llvm::support::endian::write16le(length, text.size());
  return (kMagic + StringRef("\x01\x00", 2) + StringRef(length, 2) + text)
      .str();
}
