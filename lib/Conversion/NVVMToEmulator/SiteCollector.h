//===- SiteCollector.h - Finds and decodes the sites ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_NVVMTOEMULATOR_SITECOLLECTOR_H
#define ATTN_LIB_CONVERSION_NVVMTOEMULATOR_SITECOLLECTOR_H

#include "attn/Conversion/NVVMToEmulator/NVVMToEmulator.h"

#include <llvm/ADT/MapVector.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

namespace attn {

/// How lowered code treats an op.
enum class SiteKind { Op, Access, Division, Unreachable };

/// Looks at all ops of a module and decodes those that become sites; changes nothing.
class SiteCollector {
public:
  struct Found {
    mlir::Operation *op;
    SiteKind kind;
    unsigned site;
  };

  mlir::LogicalResult collect(mlir::ModuleOp module);

  std::vector<emu::Site> sites;
  std::vector<Found> found;
  /// Blocks that a branch goes back to, with the branch's site.
  llvm::MapVector<mlir::Block *, unsigned> loops;

  /// The program's own memory on the stack, with the bytes of each.
  std::vector<std::pair<mlir::LLVM::AllocaOp, uint64_t>> allocas;

  size_t stackBytes = 0;

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitMemory(mlir::Operation *op, mlir::Value address, emu::AccessKind kind,
                                  mlir::Type type, std::optional<uint64_t> alignment);
  unsigned addSite(mlir::Operation *op, std::unique_ptr<emu::Instruction> instruction);
  void countStack(mlir::LLVM::LLVMFuncOp func);
  void findLoops(mlir::LLVM::LLVMFuncOp func);

  unsigned numOps = 0; ///< That were visited.
  llvm::DenseMap<mlir::Operation *, unsigned> branchOrder;
  unsigned plainCycles = 0; ///< Of the visited ops since the last site or start of a block.
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_NVVMTOEMULATOR_SITECOLLECTOR_H
