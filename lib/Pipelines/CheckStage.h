//===- CheckStage.h - Refuses modules of another stage ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_CHECKSTAGE_H
#define ATTN_LIB_PIPELINES_CHECKSTAGE_H

#include "attn/Pipelines/Pipelines.h"

namespace attn {

/// Runs checkStage on the module.
std::unique_ptr<mlir::Pass> createCheckStagePass(Stage stage, const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_CHECKSTAGE_H
