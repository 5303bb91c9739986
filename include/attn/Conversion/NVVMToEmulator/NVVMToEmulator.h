//===- NVVMToEmulator.h - L3 programs as host code --------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain LLVM ops stay; everything else becomes a call into the emulator with the number of a
// site (see Emulator/Instruction.h):
//
//   void attn_emu_op(ptr thread, i32 site, ptr args, ptr results)   an instruction
//   void attn_emu_access(ptr thread, i32 site, ptr address, ptr value)   before a load or store
//   void attn_emu_check(ptr thread, i32 site, i8 failed)            before a division
//   void attn_emu_step(ptr thread, i32 site)                        each round of a loop
//   void attn_emu_local(ptr thread, ptr address, i64 bytes)         after an alloca
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_NVVMTOEMULATOR_NVVMTOEMULATOR_H
#define ATTN_CONVERSION_NVVMTOEMULATOR_NVVMTOEMULATOR_H

#include "attn/Emulator/Machine.h"

#include <mlir/IR/BuiltinOps.h>

namespace attn {

/// Names of the functions that lowered code calls, and of a kernel's entry:
/// void @attn_emu_entry_<kernel>(ptr thread, ptr parameters).
inline constexpr llvm::StringLiteral kEmulatorOp = "attn_emu_op";
inline constexpr llvm::StringLiteral kEmulatorAccess = "attn_emu_access";
inline constexpr llvm::StringLiteral kEmulatorCheck = "attn_emu_check";
inline constexpr llvm::StringLiteral kEmulatorStep = "attn_emu_step";
inline constexpr llvm::StringLiteral kEmulatorLocal = "attn_emu_local";
inline constexpr llvm::StringLiteral kEmulatorEntryPrefix = "attn_emu_entry_";

/// A load, store or atomic of plain LLVM.
class MemoryAccess : public emu::Instruction {
public:
  MemoryAccess(emu::AccessKind kind, size_t bytes, size_t alignment, bool isOwnShared)
      : kind(kind), bytes(bytes), alignment(alignment), isOwnShared(isOwnShared) {}
  const emu::AccessKind kind;
  const size_t bytes, alignment;
  const bool isOwnShared; ///< Through a pointer into the shared memory of the thread's CTA.
};

/// What an L3 program says about one of its kernels.
struct EmulatedKernel {
  std::string name;
  struct Parameter {
    size_t bytes;
    bool byValue; ///< A struct, of which the kernel gets the address.
  };
  llvm::SmallVector<Parameter> parameters;
  /// Threads of a CTA; 0 when the kernel does not say.
  unsigned maxThreads = 0;
  bool exactThreads = false; ///< Not fewer either (reqntid).
  unsigned minCtas = 1;      ///< Of an SM (minnctapersm).
  emu::Dim3 cluster;
};

/// What goes with the code.
struct EmulatorTables {
  std::vector<emu::Site> sites;
  std::vector<EmulatedKernel> kernels;
  /// Static shared memory; dynamic memory follows.
  size_t staticSharedBytes = 0;
  /// Stack that a thread needs at most: unoptimized code keeps every value there.
  size_t stackBytes = 0;
  /// Other globals.
  struct Global {
    std::string name;
    size_t bytes;
    bool isConstant;
  };
  std::vector<Global> globals;
};

/// Lowers a module of llvm, nvvm and attn_nv ops in place. Emits errors at ops without
/// semantics, and leaves the module as it was then.
mlir::FailureOr<EmulatorTables> convertNVVMToEmulator(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_CONVERSION_NVVMTOEMULATOR_NVVMTOEMULATOR_H
