//===- CanonicalMask.cpp - One form for each set of pairs -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/CanonicalMask.h"

using namespace mlir;
using namespace attn;

static BoundMask noMask(MLIRContext *context) { return {NoneMaskAttr::get(context), {}}; }

/// A window unlimited on the left that ends at the diagonal is causal.
static BoundMask canonicalizeWindow(BoundMask bound) {
  auto window = cast<WindowMaskAttr>(bound.mask);
  if (window.getLeft() == -1 && window.getRight() == 0)
    return {CausalMaskAttr::get(window.getContext(), window.getAlignment()), {}};
  return bound;
}

/// The canonical members of a composition, with compositions of the same kind dissolved.
template <typename Composition>
static void collectMembers(Composition composition, ValueRange args,
                           SmallVectorImpl<BoundMask> &members) {
  for (Attribute attr : composition.getMasks()) {
    auto member = cast<MaskAttrInterface>(attr);
    unsigned count = member.getNumParams();
    BoundMask canonical = canonicalizeMask(member, args.take_front(count));
    args = args.drop_front(count);
    if (auto nested = dyn_cast<Composition>(canonical.mask))
      collectMembers(nested, canonical.args, members);
    else
      members.push_back(canonical);
  }
}

/// Both j <= d and j <= d + right, right >= 0 or unlimited: the first implies the second,
/// so that causal inside an all_of closes the right side of windows of its diagonal.
static void closeWindows(SmallVectorImpl<BoundMask> &members) {
  auto isCausal = [&](Alignment alignment) {
    return llvm::any_of(members, [&](const BoundMask &member) {
      auto causal = dyn_cast<CausalMaskAttr>(member.mask);
      return causal && causal.getAlignment() == alignment;
    });
  };
  SmallVector<Alignment, 2> implied;
  for (BoundMask &member : members) {
    auto window = dyn_cast<WindowMaskAttr>(member.mask);
    if (!window || !isCausal(window.getAlignment()))
      continue;
    if (ShapedType::isDynamic(window.getRight()))
      member.args.pop_back();
    member = canonicalizeWindow(
        {WindowMaskAttr::get(window.getContext(), window.getLeft(), 0, window.getAlignment()),
         member.args});
    if (isa<WindowMaskAttr>(member.mask))
      implied.push_back(window.getAlignment());
  }
  llvm::erase_if(members, [&](const BoundMask &member) {
    auto causal = dyn_cast<CausalMaskAttr>(member.mask);
    return causal && llvm::is_contained(implied, causal.getAlignment());
  });
}

static std::string toString(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

/// Sorts by the printed form, the only order that is the same in every process. Members
/// that print alike (they differ in operands) keep their order.
static void sortAndUnique(SmallVectorImpl<BoundMask> &members) {
  SmallVector<std::pair<std::string, unsigned>> order;
  for (auto [index, member] : llvm::enumerate(members))
    order.emplace_back(toString(member.mask), index);
  llvm::sort(order);
  SmallVector<BoundMask> unique;
  for (const auto &[text, index] : order)
    if (!llvm::is_contained(unique, members[index]))
      unique.push_back(members[index]);
  members.assign(unique.begin(), unique.end());
}

template <typename Composition>
static BoundMask compose(MLIRContext *context, ArrayRef<BoundMask> members) {
  if (members.size() == 1)
    return members.front();
  SmallVector<Attribute> masks;
  SmallVector<Value> args;
  for (const BoundMask &member : members) {
    masks.push_back(member.mask);
    args.append(member.args);
  }
  return {Composition::get(context, masks), args};
}

BoundMask attn::canonicalizeMask(MaskAttrInterface mask, ValueRange args) {
  MLIRContext *context = mask.getContext();
  if (mask.keepsAll())
    return noMask(context);
  if (isa<WindowMaskAttr>(mask))
    return canonicalizeWindow({mask, SmallVector<Value>(args)});
  SmallVector<BoundMask> members;
  if (auto allOf = dyn_cast<AllOfMaskAttr>(mask)) {
    collectMembers(allOf, args, members);
    llvm::erase_if(
        members, [](const BoundMask &member) { return MaskAttrInterface(member.mask).keepsAll(); });
    closeWindows(members);
    sortAndUnique(members);
    return compose<AllOfMaskAttr>(context, members);
  }
  if (auto anyOf = dyn_cast<AnyOfMaskAttr>(mask)) {
    collectMembers(anyOf, args, members);
    sortAndUnique(members);
    return compose<AnyOfMaskAttr>(context, members);
  }
  return {mask, SmallVector<Value>(args)};
}
