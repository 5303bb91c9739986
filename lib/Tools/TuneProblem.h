//===- TuneProblem.h - What a search is asked for ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNEPROBLEM_H
#define ATTN_LIB_TOOLS_TUNEPROBLEM_H

#include "attn/Compiler/Compiler.h"

namespace attn {

struct TuneProblem {
  KernelSpec spec; ///< Without pins.
  RunShape shape;
  /// Values of schedule fields that were given: "q_tile=64,128" and, as one value, pins.
  CandidateSpace given;

  ProblemShape callShape() const { return {*shape.batch, *shape.seqQ, *shape.seqKV, {}}; }
};

/// Reads the words of a problem; those of schedule fields may be lists with commas.
rt::Expected<TuneProblem> parseTuneProblem(llvm::ArrayRef<std::string> words);

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNEPROBLEM_H
