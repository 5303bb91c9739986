//===- Compare.h - A result against what is right ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_COMPARE_H
#define ATTN_LIB_TOOLS_COMPARE_H

#include "attn/Compiler/Reference.h"
#include "attn/Tools/RunProblem.h"

namespace attn {

/// Largest relative error that passes, by the element type of q, k and v.
double toleranceOf(rt::ElementType type);

/// Queries to check: all of them, or evenly chosen ones and the last where the
/// reference would take too long.
std::vector<int64_t> chooseRows(const KernelSpec &spec, const RunShape &shape);

/// Compares the rows of the reference, also with how well naive code of the same precision
/// does. `lse` is null when the kernel writes none.
ErrorReport compareWithReference(const KernelSpec &spec, const rt::TensorArg &o, const float *lse,
                                 const ReferenceRows &reference, const ReferenceRows &naive);

/// Compares with an array of o's shape.
ErrorReport compareWithArray(const KernelSpec &spec, const rt::TensorArg &o,
                             const NpyArray &expected);

/// SHA-256 of the elements in order, as hexadecimal text.
std::string digestOf(const rt::TensorArg &o);

/// Whether memory between the elements of `o` is as poison() left it.
bool gapsAreUntouched(const TensorBuffer &o);

} // namespace attn

#endif // ATTN_LIB_TOOLS_COMPARE_H
