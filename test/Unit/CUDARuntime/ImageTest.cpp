//===- ImageTest.cpp - Images are recognized, and whole -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Image.h"
#include "gtest/gtest.h"
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <random>

using namespace fad::cuda;

namespace {
/// Of a copy that has not a byte more, so that a sanitizer sees what is read
/// beyond it.
ImageKind classify(const std::string &image) {
  std::unique_ptr<char[]> copy(new char[image.size()]);
  std::memcpy(copy.get(), image.data(), image.size());
  std::string reason;
  ImageKind kind = classifyImage(copy.get(), image.size(), reason);
  EXPECT_EQ(reason.empty(), kind != ImageKind::Invalid);
  return kind;
}

template <typename T> void append(std::string &image, const T &value) {
  image.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// One segment, some text, and its section.
std::string makeCubin() {
  std::string text = "the code of a kernel", image;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + text.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  Elf64_Phdr segment = {};
  segment.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  segment.p_filesz = text.size();
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = segment.p_offset;
  section.sh_size = text.size();
  append(image, header);
  append(image, segment);
  image += text;
  append(image, section);
  // Of memory that is not in the file.
  section.sh_type = SHT_NOBITS;
  section.sh_size = 1 << 20;
  append(image, section);
  return image;
}

std::string makeFatbin() {
  std::string image("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  append(image, uint64_t(24));
  return image + std::string(24, 'x');
}
} // namespace

TEST(ImageTest, KnowsTheKinds) {
  EXPECT_EQ(classify(".version 8.0\n"), ImageKind::Ptx);
  EXPECT_EQ(classify(std::string(".version 8.0\n\0", 14)), ImageKind::Ptx);
  EXPECT_EQ(classify("x"), ImageKind::Ptx);
  EXPECT_EQ(classify(makeCubin()), ImageKind::Binary);
  EXPECT_EQ(classify(makeFatbin()), ImageKind::Binary);
  EXPECT_EQ(classify(""), ImageKind::Invalid);
  EXPECT_EQ(classify(std::string("two\0texts", 9)), ImageKind::Invalid);
}

// The driver would read beyond the end of what is cut off.
TEST(ImageTest, RefusesWhatIsCutOff) {
  for (const std::string &image : {makeCubin(), makeFatbin()})
    for (size_t size = 4; size < image.size(); ++size)
      ASSERT_EQ(classify(image.substr(0, size)), ImageKind::Invalid) << size;
}

// No table of a damaged file leads out of it.
TEST(ImageTest, ReadsNothingBeyondTheEnd) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string image = i % 2 ? makeCubin() : makeFatbin();
    for (int j = 0; j < 3; ++j)
      image[4 + random() % (image.size() - 4)] = char(random());
    EXPECT_NE(classify(image), ImageKind::Ptx);
  }
}
