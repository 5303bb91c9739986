//===- Instruction.h - What an instruction does -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator lowers every op of an L3 program that is not a plain LLVM op (nvvm, attn_nv,
// `llvm.call_intrinsic "llvm.nvvm.*"`, memory accesses) to a call with a *site* number. A site
// holds the op's Instruction, which decode() made from the op's attributes once.
//
// Operands and results travel through two byte buffers. Value i begins at the next multiple
// of eight bytes after value i - 1 and is stored as the host stores its type: i1 as one byte,
// pointers as host pointers (also those to shared memory, see Machine.h), vectors and structs
// with the natural layout. So the i-th operand lies at 8 * i when all are scalars. Results of
// struct type are one value: a struct of four f32 is 16 contiguous bytes. ValueLayout gives
// the offsets at decode time.
//
// To add an instruction: write a class in lib/Emulator/Semantics/<Family>.cpp and add its
// decoder to the table in that file's register function (see Semantics.h there).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_INSTRUCTION_H
#define ATTN_EMULATOR_INSTRUCTION_H

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/TypeRange.h>
#include <mlir/Support/LLVM.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace attn::emu {

class Thread;
class Warp;
class Warpgroup;
struct Site;

/// Who executes an instruction as one.
enum class Scope { Thread, Warp, Warpgroup };

/// Reads a value out of an operand buffer.
template <typename T> T get(const std::byte *args, size_t offset) {
  T value;
  std::memcpy(static_cast<void *>(&value), args + offset, sizeof(T));
  return value;
}
/// Writes a value into a result buffer.
template <typename T> void put(std::byte *results, size_t offset, const T &value) {
  std::memcpy(results + offset, static_cast<const void *>(&value), sizeof(T));
}

/// Where the values of a list lie in a buffer.
class ValueLayout {
public:
  explicit ValueLayout(mlir::TypeRange types);
  size_t offset(size_t i) const { return offsets[i]; }
  size_t bytes() const { return total; }

private:
  llvm::SmallVector<size_t, 8> offsets;
  size_t total = 0;
};

/// Bytes and alignment that the host's layout gives a type; {0, 0} for types it cannot hold.
struct HostSize {
  size_t bytes = 0, alignment = 0;
};
HostSize hostSize(mlir::Type type);

/// One thread's part in a collective instruction.
struct Lane {
  Thread *thread = nullptr; ///< Null: not a member.
  const std::byte *args = nullptr;
  std::byte *results = nullptr;
};

/// The meaning of one op, with its attributes decoded. Immutable; shared by all threads.
///
/// An instruction that finds something wrong calls thread.report(...) and returns; the thread
/// does not run on. Results need not be written then.
class Instruction {
public:
  virtual ~Instruction() = default;
  virtual Scope scope() const { return Scope::Thread; }

  /// Scope Thread: one thread's execution. May block (Thread::block, barriers); must own
  /// nothing that needs a destructor while it blocks, because a launch that is stopped
  /// abandons the blocked threads.
  virtual void execute(Thread &thread, const std::byte *args, std::byte *results) const;

  /// Scope Warp: which lanes execute it together; by default all. Bit i is lane i.
  virtual uint32_t members(const Thread &thread, const std::byte *args) const { return ~0u; }
  /// Scope Warp: once, when all members have arrived. `lanes` has one entry per lane of the
  /// warp. Must not block.
  virtual void execute(Warp &warp, const Site &site, llvm::ArrayRef<Lane> lanes) const;

  /// Scope Warpgroup: once, when all 128 threads have arrived. Must not block.
  virtual void execute(Warpgroup &group, const Site &site, llvm::ArrayRef<Lane> lanes) const;

  /// Scope Warpgroup: then by each of its threads; may block.
  virtual void finish(Thread &thread) const {}

  /// Scope Warp or Warpgroup: whether the hardware has no such instruction for a warp or warpgroup
  /// that the CTA's end cuts short.
  virtual bool takesWholeUnit() const { return false; }

  /// Nominal cycles, for traces.
  virtual unsigned cycles() const { return 4; }
  /// Nominal cycles from there until what it has begun is over; 0 when it begins nothing.
  virtual unsigned latency() const { return 0; }
};

/// An op of the program that calls the emulator.
struct Site {
  unsigned index = 0;
  std::string name;     ///< "nvvm.ldmatrix", or the intrinsic's name.
  std::string location; ///< "kernel.mlir:12:5", or "function @f" where the IR has no more.
  std::unique_ptr<Instruction> instruction;
  unsigned order = 0; ///< Grows with the program's text, also where a loop goes round.
  /// Nominal cycles of the plain LLVM ops between this and what comes before it in its block.
  unsigned plainCycles = 0;

  /// "'nvvm.ldmatrix' at kernel.mlir:12:5".
  std::string text() const { return "'" + name + "' at " + location; }
};

/// Makes an op's instruction; emits an error on the op when its form has no semantics.
using Decoder = mlir::FailureOr<std::unique_ptr<Instruction>> (*)(mlir::Operation *op);

/// All instructions by op name, intrinsics by their name ("llvm.nvvm.ex2.approx.ftz.f32").
class InstructionTable {
public:
  /// The one table, with everything registered.
  static const InstructionTable &get();

  void add(llvm::StringRef name, Decoder decoder) { decoders[name] = decoder; }
  /// The op's decoder; null when there is none.
  Decoder lookup(mlir::Operation *op) const;
  /// The name under which the op is looked up.
  static llvm::StringRef nameOf(mlir::Operation *op);

private:
  llvm::StringMap<Decoder> decoders;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_INSTRUCTION_H
