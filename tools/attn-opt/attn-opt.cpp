//===- attn-opt.cpp - Runs attn passes and pipelines on a file ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Registration.h"

#include <llvm/Support/CommandLine.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> dumpDirectory(
      "attn-dump-stages",
      llvm::cl::desc("With --attn-pipeline: write the IR after each stage, and the PTX, to this "
                     "directory"),
      llvm::cl::value_desc("DIR"));
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  attn::registerPipelines(&dumpDirectory.getValue());
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "attn: compiler for attention kernels\n", registry));
}
