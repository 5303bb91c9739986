//===- Bulk.h - What the bulk copies share ----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_BULK_H
#define ATTN_LIB_EMULATOR_SEMANTICS_BULK_H

#include "attn/Emulator/Launch.h"

namespace attn::emu {

/// Bulk copies move multiples of this many bytes between multiples of it.
inline constexpr size_t kBulkUnit = 16;

/// One target of a copy into shared memory that signals an mbarrier there.
struct SignalledCopy {
  SharedMemory *memory;
  Mbarrier *barrier;
  std::byte *target;
};

/// The targets of a copy to `target` (of `bytes` bytes) that signals `barrier`: the one CTA
/// that holds both, or with `multicast` the CTAs of the mask, at the same offsets. Empty
/// after a report.
llvm::SmallVector<SignalledCopy, 2> findTargets(Thread &thread, std::byte *target,
                                                std::byte *barrier, size_t bytes,
                                                std::optional<uint16_t> multicast);

/// Issues a copy to one target: `move` writes the data, after which the barrier learns of its
/// `bytes` bytes. False: reported.
bool issueSignalled(Thread &thread, const SignalledCopy &copy, size_t bytes, size_t alignment,
                    llvm::unique_function<void()> move);

/// Issues an operation of the current bulk group that reads `bytes` bytes of shared memory.
/// False: reported.
bool issueGrouped(Thread &thread, std::byte *source, size_t bytes, size_t alignment,
                  llvm::unique_function<void()> move);

/// How a reduction combines a value in global memory with one from shared memory.
enum class Reduction { Add, Min, Max, And, Or, Xor };
enum class ReducedType { F32, F16, BF16, S32, U32, S64, U64 };
size_t bytesOf(ReducedType type);
/// target[i] = combine(target[i], source[i]).
void reduce(Reduction reduction, ReducedType type, std::byte *target, const std::byte *source,
            size_t numElements);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_BULK_H
