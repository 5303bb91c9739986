//===- AttnDialect.cpp - Registration of the attn dialect -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include <mlir/Transforms/InliningUtils.h>

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"

namespace {
/// Score regions may be inlined into tile programs; nothing in the dialect depends on
/// the function it sits in.
struct AttnInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void AttnDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  addInterfaces<AttnInlinerInterface>();
}
