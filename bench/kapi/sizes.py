#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares the sizes of structures that our headers and a kernel both have.

usage: sizes.py HEADERS VERSION KERNEL [VERSION KERNEL ...]

HEADERS is the folder that `insmod` unpacked (kapi-*/include in its cache), and KERNEL a vmlinuz or vmlinux with BTF, or
/sys/kernel/btf/vmlinux. Ours are those of one object file that has an array of each structure's size. A structure that does
not compile for a version is left out. Prints `structure|ours/kernel's ...`, a column for each version, then counts.
"""
import lzma
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Bytes behind a type's three words, by its kind, and bytes of each of its members.
REST = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0), 19: (0, 12)}
STRUCTURES = (4, 5)


def unpacked(data):
    """Returns the ELF file in a compressed image."""
    at = data.find(b"\xfd7zXZ\x00")
    if at > 0:
        return lzma.LZMADecompressor().decompress(data[at:])
    at = data.find(b"\x28\xb5\x2f\xfd")
    while at > 0:
        words = ["zstd", "-dc"]
        text = subprocess.run(words, input=data[at:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        if text[:4] == b"\x7fELF":
            return text
        at = data.find(b"\x28\xb5\x2f\xfd", at + 1)
    sys.exit("no kernel was found in the image: give a vmlinux")


def btf(path):
    """Returns the type information of a kernel."""
    data = Path(path).read_bytes()
    if data[:2] == b"\x9f\xeb":
        return data
    if data[:4] != b"\x7fELF":
        data = unpacked(data)
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for name, _, _, _, at, length in sections:
        at_name = sections[names][4] + name
        if data[at_name : at_name + 5] == b".BTF\0":
            return data[at : at + length]
    sys.exit(f"{path}: no BTF")


def kernels(path):
    """Returns the bytes of each structure of a kernel."""
    data = btf(path)
    (head,) = struct.unpack_from("<I", data, 4)
    types, types_bytes, strings, _ = struct.unpack_from("<IIII", data, 8)
    at, end, strings = head + types, head + types + types_bytes, head + strings
    sizes = {}
    while at < end:
        name, info, size = struct.unpack_from("<III", data, at)
        kind, members = info >> 24 & 31, info & 0xFFFF
        rest, each = REST.get(kind, (0, 0))
        at += 12 + rest + each * members
        if kind in STRUCTURES:
            text = data[strings + name : data.index(b"\0", strings + name)].decode()
            sizes.setdefault(text, size)
    return sizes


def ours(headers, version):
    """Returns the bytes of each structure of our headers, as for a version."""
    names = {}
    for path in sorted(headers.rglob("*.h")):
        header = path.relative_to(headers)
        if header.parts[0] not in ("kapi", "uapi"):
            for name in re.findall(r"^struct (\w+) \{", path.read_text(), re.M):
                names.setdefault(name, str(header))
    major, minor = map(int, version.split("."))
    own = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    words = ["cc", "-nostdinc", "-std=gnu11", "-fgnu89-inline", "-w", "-isystem", own, f"-I{headers}", "-include", "linux/kconfig.h"]
    words += ["-D__KERNEL__", "-DMODULE", '-DKBUILD_MODNAME="sizes"', f"-DLINUX_VERSION_CODE={(major << 16) + (minor << 8)}"]
    words += [f'-DUTS_RELEASE="{version}"', "-c", "-o"]
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "sizes.c", Path(folder) / "sizes.o"
        while True:
            text = "".join(f"#include <{header}>\n" for header in sorted(set(names.values())))
            text += "".join(f"char SIZE_{name}[sizeof(struct {name})];\n" for name in sorted(names))
            source.write_text(text)
            output = subprocess.run([*words, result, source], capture_output=True, text=True, check=False)
            if output.returncode == 0:
                break
            wrong = set(re.findall(r"struct (\w+)", output.stderr)) & set(names)
            if not wrong:
                sys.exit(output.stderr)
            names = {name: header for name, header in names.items() if name not in wrong}
        table = subprocess.run(["nm", "-S", result], capture_output=True, text=True, check=True).stdout
    return {name: int(size, 16) for size, name in re.findall(r"^\S+ (\S+) \w SIZE_(\w+)$", table, re.M)}


def main():
    headers, pairs = Path(sys.argv[1]), list(zip(sys.argv[2::2], sys.argv[3::2]))
    sides = [(ours(headers, version), kernels(kernel)) for version, kernel in pairs]
    names = sorted(name for name in set().union(*(mine for mine, _ in sides)) if any(name in a and name in b for a, b in sides))
    print("structure|" + " ".join(version for version, _ in pairs))
    equal = larger = 0
    for name in names:
        both = [(mine.get(name), theirs.get(name)) for mine, theirs in sides]
        there = [pair for pair in both if None not in pair]
        equal += all(a == b for a, b in there)
        larger += any(a > b for a, b in there)
        print(f"{name}|" + " ".join("-" if None in pair else f"{pair[0]}/{pair[1]}" for pair in both))
    print(f"{len(names)} in both, {equal} equal wherever both have them, {larger} larger somewhere")


if __name__ == "__main__":
    main()
