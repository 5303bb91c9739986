//===- ChipRequirements.cpp - Does a chip have a program's ops? -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ChipRequirements.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.h>

using namespace mlir;
using namespace attn;

/// PTX ISA 8.0 came with sm_90's instructions.
static constexpr unsigned kPtxVersionOfSM90 = 80;

/// "sm_90a".
static std::string chipName(const NVVM::NVVMCheckSMVersion &version) {
  return "sm_" + std::to_string(version.smVersionList.front()) +
         (version.archAccelerated ? "a" : "");
}

LogicalResult attn::verifyChip(ModuleOp module, StringRef chip) {
  return verifyChip(module, chip, std::numeric_limits<unsigned>::max());
}

LogicalResult attn::verifyChip(ModuleOp module, StringRef chipText, unsigned ptxVersion) {
  auto chip = NVVM::NVVMCheckSMVersion::getTargetSMVersionFromStr(chipText);
  WalkResult result = module.walk([&](NVVM::RequiresSMInterface op) {
    const NVVM::NVVMCheckSMVersion required = op.getRequiredMinSMVersion();
    if (!required.isCompatibleWith(chip)) {
      InFlightDiagnostic diagnostic = op->emitOpError() << "needs " << chipName(required);
      if (!required.archAccelerated)
        diagnostic << " or later";
      diagnostic << ", got " << chipText;
      return WalkResult::interrupt();
    }
    if (required.smVersionList.front() >= 90 && ptxVersion < kPtxVersionOfSM90) {
      op->emitOpError() << "needs PTX ISA version " << kPtxVersionOfSM90 << ", got " << ptxVersion;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
