//===- Image.cpp - Kinds of code for a module -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Image.h"
#include <cstdint>
#include <cstring>
#include <elf.h>

using namespace fad::cuda;

namespace {
/// At the beginning of a fatbin.
struct FatbinHeader {
  static constexpr uint32_t kMagic = 0xba55ed50;
  uint32_t magic;
  uint16_t version;
  uint16_t headerSize;
  /// The size of the data after the header.
  uint64_t size;
};

/// Bytes of which parts can be read.
struct Bytes {
  const char *data;
  size_t size;

  bool contains(uint64_t offset, uint64_t count) const {
    return offset <= size && count <= size - offset;
  }
  template <typename T> bool read(uint64_t offset, T &value) const {
    if (!contains(offset, sizeof(T)))
      return false;
    std::memcpy(&value, data + offset, sizeof(T));
    return true;
  }
};
} // namespace

/// Whether an ELF file contains its tables and the data that they refer to.
static bool isWholeElf(Bytes bytes) {
  Elf64_Ehdr header;
  if (!bytes.read(0, header) || header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!bytes.read(header.e_shoff + uint64_t(i) * header.e_shentsize, section))
      return false;
    if (section.sh_type != SHT_NOBITS &&
        !bytes.contains(section.sh_offset, section.sh_size))
      return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!bytes.read(header.e_phoff + uint64_t(i) * header.e_phentsize,
                    segment) ||
        !bytes.contains(segment.p_offset, segment.p_filesz))
      return false;
  }
  return true;
}

static bool isWholeFatbin(Bytes bytes) {
  FatbinHeader header;
  return bytes.read(0, header) &&
         bytes.contains(header.headerSize, header.size);
}

ImageKind fad::cuda::classifyImage(const void *image, size_t size,
                                   std::string &reason) {
  Bytes bytes{static_cast<const char *>(image), size};
  if (size >= SELFMAG && !std::memcmp(image, ELFMAG, SELFMAG)) {
    if (isWholeElf(bytes))
      return ImageKind::Binary;
    reason = "the cubin is not whole: its tables refer to more than its " +
             std::to_string(size) + " bytes";
    return ImageKind::Invalid;
  }
  uint32_t magic = 0;
  if (bytes.read(0, magic) && magic == FatbinHeader::kMagic) {
    if (isWholeFatbin(bytes))
      return ImageKind::Binary;
    reason = "the fatbin is not whole: its header states more than its " +
             std::to_string(size) + " bytes";
    return ImageKind::Invalid;
  }
  // A null byte may end a text.
  if (size && !std::memchr(image, 0, size - 1))
    return ImageKind::Ptx;
  reason = size ? "the image is neither PTX nor a cubin nor a fatbin"
                : "the image is empty";
  return ImageKind::Invalid;
}
