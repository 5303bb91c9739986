//===- KernelLowering.h - From problems to thread programs ------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_KERNELLOWERING_H
#define ATTN_LIB_COMPILER_KERNELLOWERING_H

#include "Session.h"

namespace attn {

/// Brings a configured session to the end of stage `lower`: a GPU's thread programs (L3), or the
/// CPU's LLVM functions. The manifest of its kernels is for PTX, or for code of the host.
rt::Expected<rt::Manifest> lowerProblem(Session &session, const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_COMPILER_KERNELLOWERING_H
