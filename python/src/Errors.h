//===- Errors.h - Failures as Python exceptions -----------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PYTHON_ERRORS_H
#define ATTN_PYTHON_ERRORS_H

#include "attn-c/Attn.h"

#include <string>

namespace attn::python {

/// Raises the class of attn.errors that `name` says.
[[noreturn]] void raise(const char *name, const std::string &message);

/// Raises what a status other than ATTN_OK stands for, with the message of the last failed call.
void check(AttnStatus status);

} // namespace attn::python

#endif // ATTN_PYTHON_ERRORS_H
