//===- attn-translate.cpp - LLVM-dialect kernels to PTX text --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Example: attn-opt f.mlir --attn-pipeline="target=sm_80" | attn-translate --mlir-to-ptx
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Registration.h"
#include "attn/Target/PTXEmitter.h"
#include "attn/Target/TargetInfo.h"

#include <llvm/Support/CommandLine.h>
#include <mlir/Tools/mlir-translate/MlirTranslateMain.h>
#include <mlir/Tools/mlir-translate/Translation.h>

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> chip("chip", llvm::cl::desc("GPU to emit PTX for"),
                                  llvm::cl::value_desc("sm_XY"), llvm::cl::init("sm_80"));
  llvm::cl::opt<unsigned> ptxVersion(
      "ptx-version",
      llvm::cl::desc("PTX ISA version, 80 for 8.0 (default: the least "
                     "that the chip needs)"),
      llvm::cl::init(0));
  mlir::TranslateFromMLIRRegistration toPTX(
      "mlir-to-ptx", "compile a module of the LLVM dialect to PTX",
      [&](mlir::ModuleOp module, llvm::raw_ostream &output) -> llvm::LogicalResult {
        const attn::TargetInfo *target = attn::findTarget(chip);
        if (!target || !target->isGpu)
          return module.emitError() << "--chip: expected a GPU such as sm_80, got '" << chip << "'";
        if (ptxVersion && ptxVersion < target->minPtxVersion)
          return module.emitError() << "--ptx-version: " << chip << " needs at least "
                                    << target->minPtxVersion << ", got " << ptxVersion.getValue();
        unsigned version = ptxVersion ? ptxVersion : target->minPtxVersion;
        llvm::FailureOr<std::string> ptx = attn::emitPTX(module, {chip, version});
        if (succeeded(ptx))
          output << *ptx;
        return ptx;
      },
      attn::registerDialects);
  return failed(mlir::mlirTranslateMain(argc, argv, "attn: LLVM dialect to PTX"));
}
