"""Counts instructions in the loops of a cubin of compute capability 9.0.

An instruction has 16 bytes, its opcode in the low twelve bits and its predicate in the next four (7: none); a
branch has the way to its target, counted from the next instruction in units of four bytes, in bits 16
to 23 (low) and from bit 34 on.
"""

import struct

BRANCH, HGMMA, R2UR = 0x947, (0x9F0, 0xDF0), 0x2CA
SIZE = 16
NO_PREDICATE = 7


def text_sections(cubin):
    """The code of each kernel, by the ELF sections .text.NAME."""
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    number, names = struct.unpack_from("<HH", cubin, 0x3C)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + 64 * i) for i in range(number)]
    for name, _, _, _, start, size in headers:
        begin = headers[names][4] + name
        if cubin[begin : cubin.index(b"\0", begin)].startswith(b".text."):
            yield cubin[start : start + size]


def branch_target(low, high, place):
    bits = low | high << 64
    upper = bits >> 34 & (1 << 48) - 1
    if upper >> 47:
        upper -= 1 << 48
    return place + SIZE + 4 * (upper << 8 | bits >> 16 & 0xFF)


def innermost_product_loops(code):
    """(begin, end) of loops with wgmma that have no such loop in them.

    A loop ends with a branch on a condition; a wait that spins elsewhere comes back without one.
    """
    opcodes, loops = [], []
    for place in range(0, len(code), SIZE):
        low, high = struct.unpack_from("<QQ", code, place)
        opcodes.append(low & 0xFFF)
        if opcodes[-1] == BRANCH and low >> 12 & 0xF != NO_PREDICATE:
            target = branch_target(low, high, place)
            if 0 <= target <= place:
                loops.append((target // SIZE, place // SIZE + 1))
    loops = [loop for loop in loops if any(op in HGMMA for op in opcodes[slice(*loop)])]
    inner = [
        (begin, end) for begin, end in loops
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in loops)
    ]
    return opcodes, inner


def moves_to_uniform_registers(cubin):
    """For each innermost loop with wgmma: how many R2UR a turn has."""
    counts = []
    for code in text_sections(cubin):
        opcodes, loops = innermost_product_loops(code)
        counts += [opcodes[begin:end].count(R2UR) for begin, end in loops]
    return counts
