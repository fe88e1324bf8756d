#!/usr/bin/env python3
"""Prints how many BPF programs named `slablab` are in the kernel."""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SYS_BPF, NEXT_ID, FD_BY_ID, INFO_BY_FD = 321, 11, 13, 15
NAME_AT = 64


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes.ljust(64, b"\0"), 64)
    return libc.syscall(ctypes.c_long(SYS_BPF), ctypes.c_long(command), buffer, ctypes.c_long(64)), buffer.raw


def name(fd):
    info = ctypes.create_string_buffer(232)
    bpf(INFO_BY_FD, struct.pack("IIQ", fd, 232, ctypes.addressof(info)))
    return info.raw[NAME_AT : NAME_AT + 16].split(b"\0")[0]


def main():
    count, number = 0, 0
    while True:
        result, raw = bpf(NEXT_ID, struct.pack("II", number, 0))
        if result < 0:
            print(count)
            return
        number = struct.unpack_from("I", raw, 4)[0]
        fd, _ = bpf(FD_BY_ID, struct.pack("I", number))
        if fd >= 0:
            count += name(fd) == b"slablab"
            os.close(fd)


main()
