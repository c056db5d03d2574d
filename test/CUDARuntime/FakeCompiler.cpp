//===- FakeCompiler.cpp - A substitute for the driver's compiler ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>

static constexpr int kMachineCuda = 190;
static constexpr uint32_t kFatbinMagic = 0xba55ed50;

bool fake::compile(const std::string &ptx, std::string &cubin,
                   std::string &error) {
  if (ptx.find(".version") == std::string::npos) {
    error = "ptxas application ptx input, line 1; fatal   : Missing .version "
            "directive at start of file\n";
    return false;
  }
  size_t bogus = ptx.find("bogus");
  if (bogus != std::string::npos) {
    auto line = 1 + std::count(ptx.begin(), ptx.begin() + bogus, '\n');
    error = "ptxas application ptx input, line " + std::to_string(line) +
            "; error   : Not a name of any known instruction: 'bogus'\n";
    return false;
  }
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = kMachineCuda;
  header.e_shoff = sizeof(header) + ptx.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(header);
  section.sh_size = ptx.size();
  cubin.assign(reinterpret_cast<char *>(&header), sizeof(header));
  cubin += ptx;
  cubin.append(reinterpret_cast<char *>(&section), sizeof(section));
  return true;
}

bool fake::isBinary(const char *image) {
  return !std::memcmp(image, ELFMAG, SELFMAG) ||
         !std::memcmp(image, &kFatbinMagic, sizeof(kFatbinMagic));
}

std::string fake::readBinary(const char *image) {
  if (std::memcmp(image, ELFMAG, SELFMAG)) {
    uint16_t headerSize;
    uint64_t size;
    std::memcpy(&headerSize, image + 6, sizeof(headerSize));
    std::memcpy(&size, image + 8, sizeof(size));
    return std::string(image, headerSize + size);
  }
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(section),
                sizeof(section));
    if (header.e_shnum == 1)
      return std::string(image + section.sh_offset, section.sh_size);
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, section.sh_offset + section.sh_size);
  }
  return std::string(image, end);
}

/// The bytes of one parameter, `.param .u64 .ptr .align 16 a` or
/// `.param .align 8 .b8 a[16]` without the first word.
static size_t getParameterBytes(const std::string &text) {
  size_t bytes = 0;
  for (size_t dot = text.find('.'); dot != std::string::npos;
       dot = text.find('.', dot + 1))
    if (std::strchr("bufs", text[dot + 1]) && std::isdigit(text[dot + 2]))
      bytes = std::atoi(text.c_str() + dot + 2) / 8;
  size_t bracket = text.find('[');
  return bracket == std::string::npos
             ? bytes
             : bytes * std::atoi(text.c_str() + bracket + 1);
}

bool fake::findKernel(const std::string &code, const std::string &name,
                      std::vector<size_t> &parameterBytes) {
  size_t entry = code.find(".entry " + name + "(");
  if (entry == std::string::npos) {
    // A cubin has a section of this name, with a null byte after it.
    std::string section = ".text." + name;
    return code.find(section.c_str(), 0, section.size() + 1) !=
           std::string::npos;
  }
  size_t end = code.find(')', entry);
  for (size_t at = code.find(".param", entry); at < end;) {
    size_t next = std::min(code.find(".param", at + 1), end);
    parameterBytes.push_back(getParameterBytes(code.substr(at + 6, next - at)));
    at = next;
  }
  return true;
}
