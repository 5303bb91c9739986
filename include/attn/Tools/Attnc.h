//===- Attnc.h - The command line of attnc ----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_H
#define ATTN_TOOLS_ATTNC_H

#include <llvm/ADT/ArrayRef.h>
#include <string>

namespace attn {

/// Runs attnc with the words after its name. Returns the exit code: 0 success, 1 bad
/// input, 2 a fault that is not the user's.
int runAttnc(llvm::ArrayRef<std::string> arguments);

} // namespace attn

#endif // ATTN_TOOLS_ATTNC_H
