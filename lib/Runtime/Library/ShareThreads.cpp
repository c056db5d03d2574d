//===- ShareThreads.cpp - One OpenMP for a library and for loops ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LLVM's OpenMP has the functions of GCC's, which libraries of distributions
// are compiled for. The dynamic linker takes the first in the order in which
// they were loaded, so a process that imports PyTorch before fad has PyTorch's.
// This file sets the addresses that the library calls, in the table of its
// imports. It reads that table as glibc's dynamic linker leaves it in memory:
// others, such as musl's, keep offsets in it. There, the library keeps its own
// threads.
//
//===----------------------------------------------------------------------===//

#include "../HostSymbols.h"
#include "Library.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib> // Defines __GLIBC__.

#if defined(__GLIBC__) && defined(__LP64__)
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::fad;

namespace {
/// The imports of a loaded library.
struct Imports {
  const char *strings = nullptr;
  const Elf64_Sym *symbols = nullptr;
  /// Relocations of functions, and of data.
  llvm::ArrayRef<Elf64_Rela> tables[2];

  explicit Imports(const link_map &library) {
    const void *addresses[2] = {};
    size_t bytes[2] = {};
    for (const Elf64_Dyn *entry = library.l_ld; entry->d_tag != DT_NULL;
         ++entry) {
      auto *address = reinterpret_cast<const void *>(entry->d_un.d_ptr);
      switch (entry->d_tag) {
      case DT_STRTAB:
        strings = static_cast<const char *>(address);
        break;
      case DT_SYMTAB:
        symbols = static_cast<const Elf64_Sym *>(address);
        break;
      case DT_JMPREL:
        addresses[0] = address;
        break;
      case DT_PLTRELSZ:
        bytes[0] = entry->d_un.d_val;
        break;
      case DT_RELA:
        addresses[1] = address;
        break;
      case DT_RELASZ:
        bytes[1] = entry->d_un.d_val;
        break;
      default:
        break;
      }
    }
    for (unsigned i : {0, 1})
      if (addresses[i])
        tables[i] = {static_cast<const Elf64_Rela *>(addresses[i]),
                     bytes[i] / sizeof(Elf64_Rela)};
  }
};
} // namespace

/// Whether `type` is a relocation to the address of a function.
static bool isAddress(uint64_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
  return false;
#endif
}

void mlir::fad::shareThreads(void *library) {
  link_map *map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_ld)
    return;
  Imports imports(*map);
  if (!imports.strings || !imports.symbols)
    return;
  struct Slot {
    uintptr_t address;
    void *function;
  };
  llvm::SmallVector<Slot> slots;
  for (llvm::ArrayRef<Elf64_Rela> table : imports.tables)
    for (const Elf64_Rela &entry : table) {
      const Elf64_Sym &symbol = imports.symbols[ELF64_R_SYM(entry.r_info)];
      llvm::StringRef name = imports.strings + symbol.st_name;
      if (!isAddress(ELF64_R_TYPE(entry.r_info)) ||
          !(name.starts_with("GOMP_") || name.starts_with("omp_")))
        continue;
      void *function = findInOpenMP(name.data());
      // All or none: a half would wait for the other.
      if (!function)
        return;
      slots.push_back({map->l_addr + entry.r_offset, function});
    }
  uintptr_t page = sysconf(_SC_PAGESIZE);
  auto allowWriting = [&](const Slot &slot) {
    // The linker may have protected the table.
    return mprotect(reinterpret_cast<void *>(slot.address / page * page), page,
                    PROT_READ | PROT_WRITE) == 0;
  };
  if (!llvm::all_of(slots, allowWriting))
    return;
  for (const Slot &slot : slots)
    *reinterpret_cast<void **>(slot.address) = slot.function;
}

#else

void mlir::fad::shareThreads(void *) {}

#endif
