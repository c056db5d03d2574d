"""Reads what kernels a cubin (an ELF file) or a PTX file has."""

import re
import struct

ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
PREFIX = ".text."


def find_code(elf):
    """Returns where the instructions of each kernel are: offset and size, by name. Raises
    ValueError for what is no ELF file."""
    if elf[:4] != b"\x7fELF":
        raise ValueError("no cubin: it does not start as an ELF file does")
    try:
        table, entry_size, entries, names = struct.unpack_from("<Q10xHHH", elf, 0x28)
        sections = [
            struct.unpack_from("<IIQQQQ", elf, table + index * entry_size)
            for index in range(entries)
        ]
        found = {}
        for name, _, _, _, offset, size in sections:
            begin = sections[names][4] + name
            title = elf[begin : elf.index(b"\0", begin)].decode()
            if title.startswith(PREFIX):
                found[title.removeprefix(PREFIX)] = offset, size
        return found
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise ValueError(f"no whole cubin: {error}") from None


def find_entries(ptx):
    """Returns the types of each kernel's parameters, by name, as PTX spells them."""
    return {
        name: re.findall(r"\.param\s+\.(\w+)", parameters)
        for name, parameters in ENTRY.findall(ptx)
    }
