//===- AttnMasks.cpp - Ranges and predicates of the mask attributes -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"

#include <llvm/Support/SaveAndRestore.h>

using namespace mlir;
using namespace attn;

/// Key on the diagonal of row 0: seq_len_kv - seq_len_q, or 0.
static Value diagonalOffset(MaskContext &ctx, Alignment alignment) {
  if (alignment == Alignment::TopLeft)
    return ctx.constant(0);
  return ctx.sub(ctx.seqLenKV, ctx.seqLenQ);
}

//===----------------------------------------------------------------------===//
// NoneMaskAttr
//===----------------------------------------------------------------------===//

Attribute NoneMaskAttr::parse(AsmParser &parser, Type) {
  if (failed(refuseParameters(parser)))
    return {};
  return get(parser.getContext());
}
void NoneMaskAttr::print(AsmPrinter &) const {}

bool NoneMaskAttr::keepsAll() const { return true; }
bool NoneMaskAttr::rowsAreIntervals() const { return true; }
KeyRange NoneMaskAttr::keptRange(MaskContext &ctx, Value, Value) const { return ctx.allKeys(); }
KeyRange NoneMaskAttr::fullRange(MaskContext &ctx, Value, Value) const { return ctx.allKeys(); }
Value NoneMaskAttr::predicate(MaskContext &ctx, Value, Value) const { return ctx.trueValue(); }

//===----------------------------------------------------------------------===//
// CausalMaskAttr
//===----------------------------------------------------------------------===//

bool CausalMaskAttr::rowsAreIntervals() const { return true; }

/// The last row of the range sees keys up to rowEnd - 1 + offset.
KeyRange CausalMaskAttr::keptRange(MaskContext &ctx, Value, Value rowEnd) const {
  return {ctx.constant(0), ctx.add(rowEnd, diagonalOffset(ctx, getAlignment()))};
}

/// The first row sees keys up to rowBegin + offset; later rows see more.
KeyRange CausalMaskAttr::fullRange(MaskContext &ctx, Value rowBegin, Value) const {
  Value diagonal = ctx.add(rowBegin, diagonalOffset(ctx, getAlignment()));
  return {ctx.constant(0), ctx.add(diagonal, ctx.constant(1))};
}

/// j <= i + offset
Value CausalMaskAttr::predicate(MaskContext &ctx, Value i, Value j) const {
  return ctx.lessEqual(j, ctx.add(i, diagonalOffset(ctx, getAlignment())));
}

//===----------------------------------------------------------------------===//
// WindowMaskAttr
//===----------------------------------------------------------------------===//

namespace {
/// The bounds of a window as values; a null value is an unlimited side.
struct WindowBounds {
  Value left;
  Value right;
};
} // namespace

/// A bound that reaches the length is unlimited. On the left that follows from the
/// arithmetic; on the right it must be said, because with seq_len_q > seq_len_kv the
/// diagonal of early rows lies left of key 0. Negative run-time bounds are unlimited too.
static WindowBounds getBounds(WindowMaskAttr mask, MaskContext &ctx) {
  unsigned next = 0;
  Value beyond = ctx.add(ctx.seqLenKV, ctx.seqLenQ);
  auto bound = [&](int64_t value) -> Value {
    if (value == -1)
      return {};
    Value count;
    if (ShapedType::isDynamic(value)) {
      count = ctx.position(ctx.params[next++]);
      Value negative = ctx.lessEqual(count, ctx.constant(-1));
      count = ctx.select(negative, beyond, count);
    } else {
      count = ctx.constant(value);
    }
    return ctx.select(ctx.lessEqual(ctx.seqLenKV, count), beyond, count);
  };
  WindowBounds bounds;
  bounds.left = bound(mask.getLeft());
  bounds.right = bound(mask.getRight());
  return bounds;
}

bool WindowMaskAttr::keepsAll() const { return getLeft() == -1 && getRight() == -1; }

bool WindowMaskAttr::rowsAreIntervals() const { return true; }

unsigned WindowMaskAttr::getNumParams() const {
  return ShapedType::isDynamic(getLeft()) + ShapedType::isDynamic(getRight());
}

LogicalResult WindowMaskAttr::verifyParams(TypeRange types,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  for (Type type : types)
    if (!type.isIndex())
      return emitError() << "expected a window bound of type 'index', got " << type;
  return success();
}

KeyRange WindowMaskAttr::keptRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  WindowBounds bounds = getBounds(*this, ctx);
  Value offset = diagonalOffset(ctx, getAlignment());
  KeyRange range = ctx.allKeys();
  if (bounds.left)
    range.begin = ctx.sub(ctx.add(rowBegin, offset), bounds.left);
  if (bounds.right)
    range.end = ctx.add(ctx.add(rowEnd, offset), bounds.right);
  return range;
}

KeyRange WindowMaskAttr::fullRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  WindowBounds bounds = getBounds(*this, ctx);
  Value offset = diagonalOffset(ctx, getAlignment());
  KeyRange range = ctx.allKeys();
  if (bounds.left) {
    Value lastDiagonal = ctx.sub(ctx.add(rowEnd, offset), ctx.constant(1));
    range.begin = ctx.sub(lastDiagonal, bounds.left);
  }
  if (bounds.right) {
    Value firstDiagonal = ctx.add(rowBegin, offset);
    range.end = ctx.add(ctx.add(firstDiagonal, bounds.right), ctx.constant(1));
  }
  return range;
}

/// d - left <= j <= d + right
Value WindowMaskAttr::predicate(MaskContext &ctx, Value i, Value j) const {
  WindowBounds bounds = getBounds(*this, ctx);
  Value diagonal = ctx.add(i, diagonalOffset(ctx, getAlignment()));
  Value keep;
  if (bounds.left)
    keep = ctx.lessEqual(ctx.sub(diagonal, bounds.left), j);
  if (bounds.right) {
    Value right = ctx.lessEqual(j, ctx.add(diagonal, bounds.right));
    keep = keep ? ctx.logicalAnd(keep, right) : right;
  }
  return keep ? keep : ctx.trueValue();
}

LogicalResult WindowMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t left,
                                     int64_t right, Alignment) {
  auto valid = [](int64_t bound) { return ShapedType::isDynamic(bound) || bound >= -1; };
  if (!valid(left))
    return emitError() << "expected a left window bound >= -1, got " << left;
  if (!valid(right))
    return emitError() << "expected a right window bound >= -1, got " << right;
  return success();
}

static ParseResult parseBound(AsmParser &parser, int64_t &bound) {
  if (succeeded(parser.parseOptionalQuestion())) {
    bound = ShapedType::kDynamic;
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(bound))
    return failure();
  // The number that stands for `?` in memory must not pass for it in text.
  if (ShapedType::isDynamic(bound))
    return parser.emitError(loc) << "expected a window bound >= -1, got " << bound;
  return success();
}

Attribute WindowMaskAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t left, right;
  Alignment alignment = Alignment::BottomRight;
  if (parser.parseLess() || parseBound(parser, left) || parser.parseComma() ||
      parseBound(parser, right))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<Alignment> parsed = FieldParser<Alignment>::parse(parser);
    if (failed(parsed))
      return {};
    alignment = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<WindowMaskAttr>(loc, parser.getContext(), left, right, alignment);
}

void WindowMaskAttr::print(AsmPrinter &printer) const {
  auto bound = [&](int64_t value) {
    if (ShapedType::isDynamic(value))
      printer << "?";
    else
      printer << value;
  };
  printer << "<";
  bound(getLeft());
  printer << ", ";
  bound(getRight());
  if (getAlignment() != Alignment::BottomRight)
    printer << ", " << getAlignment();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// AllOfMaskAttr, AnyOfMaskAttr
//===----------------------------------------------------------------------===//

/// Calls `visit` with each member and its share of `params` (values or types).
template <typename Range, typename Visit>
static void forEachMember(ArrayRef<Attribute> masks, Range params, Visit visit) {
  for (Attribute attr : masks) {
    auto member = cast<MaskAttrInterface>(attr);
    unsigned count = member.getNumParams();
    visit(member, params.take_front(count));
    params = params.drop_front(count);
  }
}

static unsigned countParams(ArrayRef<Attribute> masks) {
  unsigned count = 0;
  for (Attribute attr : masks)
    count += cast<MaskAttrInterface>(attr).getNumParams();
  return count;
}

static LogicalResult verifyMemberParams(ArrayRef<Attribute> masks, TypeRange types,
                                        function_ref<InFlightDiagnostic()> emitError) {
  LogicalResult result = success();
  forEachMember(masks, types, [&](MaskAttrInterface member, TypeRange share) {
    if (succeeded(result))
      result = member.verifyParams(share, emitError);
  });
  return result;
}

/// Most levels of compositions. Canonical masks alternate between the two kinds, so more has no
/// use, and whatever walks a mask does so by recursion.
static constexpr unsigned kMaxMaskNesting = 32;

/// Levels of composition in a mask; its members are verified, so there are few.
static unsigned nestingOf(Attribute mask) {
  ArrayRef<Attribute> members;
  if (auto allOf = dyn_cast<AllOfMaskAttr>(mask))
    members = allOf.getMasks();
  else if (auto anyOf = dyn_cast<AnyOfMaskAttr>(mask))
    members = anyOf.getMasks();
  else
    return 0;
  unsigned deepest = 0;
  for (Attribute member : members)
    deepest = std::max(deepest, nestingOf(member));
  return deepest + 1;
}

static InFlightDiagnostic &&refuseNesting(InFlightDiagnostic &&diagnostic) {
  return std::move(diagnostic) << "expected masks composed at most " << kMaxMaskNesting
                               << " levels deep; write all_of of all_of, and any_of of any_of, as "
                                  "one composition";
}

/// `<` masks `>`. Members are parsed by recursion, whose depth nothing else bounds: text
/// may nest deeper than the stack.
static FailureOr<SmallVector<Attribute>> parseMembers(AsmParser &parser) {
  static thread_local unsigned depth = 0;
  llvm::SaveAndRestore nested(depth, depth + 1);
  SMLoc loc = parser.getCurrentLocation();
  if (depth > kMaxMaskNesting) {
    refuseNesting(parser.emitError(loc));
    return failure();
  }
  SmallVector<Attribute> masks;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parser.parseAttribute(masks.emplace_back()); }))
    return failure();
  return masks;
}

template <typename Composition> static Attribute parseComposition(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<SmallVector<Attribute>> masks = parseMembers(parser);
  if (failed(masks))
    return {};
  return Composition::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                 ArrayRef<Attribute>(*masks));
}

static void printMembers(AsmPrinter &printer, ArrayRef<Attribute> masks) {
  printer << "<";
  llvm::interleaveComma(masks, printer, [&](Attribute mask) { printer << mask; });
  printer << ">";
}

static LogicalResult verifyMembers(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<Attribute> masks) {
  if (masks.empty())
    return emitError() << "expected at least one mask in the composition";
  for (Attribute attr : masks)
    if (!isa<MaskAttrInterface>(attr))
      return emitError() << "expected a mask attribute, got " << attr;
    else if (nestingOf(attr) >= kMaxMaskNesting)
      return refuseNesting(emitError());
  return success();
}

Attribute AllOfMaskAttr::parse(AsmParser &parser, Type) {
  return parseComposition<AllOfMaskAttr>(parser);
}
void AllOfMaskAttr::print(AsmPrinter &printer) const { printMembers(printer, getMasks()); }
unsigned AllOfMaskAttr::getNumParams() const { return countParams(getMasks()); }
LogicalResult AllOfMaskAttr::verifyParams(TypeRange types,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  return verifyMemberParams(getMasks(), types, emitError);
}
LogicalResult AllOfMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<Attribute> masks) {
  return verifyMembers(emitError, masks);
}
bool AllOfMaskAttr::keepsAll() const {
  return llvm::all_of(getMasks(),
                      [](Attribute m) { return cast<MaskAttrInterface>(m).keepsAll(); });
}

/// Intervals intersect to an interval.
bool AllOfMaskAttr::rowsAreIntervals() const {
  return llvm::all_of(getMasks(),
                      [](Attribute m) { return cast<MaskAttrInterface>(m).rowsAreIntervals(); });
}

/// Intersection of the members' ranges: right for kept and for full ranges alike.
template <typename Query>
static KeyRange intersect(ArrayRef<Attribute> masks, MaskContext &ctx, Query query) {
  KeyRange range = ctx.allKeys();
  forEachMember(masks, ctx.params, [&](MaskAttrInterface member, ValueRange share) {
    MaskContext memberCtx = ctx.withParams(share);
    KeyRange next = query(member, memberCtx);
    range = {ctx.max(range.begin, next.begin), ctx.min(range.end, next.end)};
  });
  return range;
}

KeyRange AllOfMaskAttr::keptRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  return intersect(getMasks(), ctx, [&](MaskAttrInterface member, MaskContext &memberCtx) {
    return member.keptRange(memberCtx, rowBegin, rowEnd);
  });
}
KeyRange AllOfMaskAttr::fullRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  return intersect(getMasks(), ctx, [&](MaskAttrInterface member, MaskContext &memberCtx) {
    return member.fullRange(memberCtx, rowBegin, rowEnd);
  });
}
Value AllOfMaskAttr::predicate(MaskContext &ctx, Value i, Value j) const {
  Value keep = ctx.trueValue();
  forEachMember(getMasks(), ctx.params, [&](MaskAttrInterface member, ValueRange share) {
    MaskContext memberCtx = ctx.withParams(share);
    keep = ctx.logicalAnd(keep, member.predicate(memberCtx, i, j));
  });
  return keep;
}

Attribute AnyOfMaskAttr::parse(AsmParser &parser, Type) {
  return parseComposition<AnyOfMaskAttr>(parser);
}
void AnyOfMaskAttr::print(AsmPrinter &printer) const { printMembers(printer, getMasks()); }
unsigned AnyOfMaskAttr::getNumParams() const { return countParams(getMasks()); }
LogicalResult AnyOfMaskAttr::verifyParams(TypeRange types,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  return verifyMemberParams(getMasks(), types, emitError);
}
LogicalResult AnyOfMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<Attribute> masks) {
  return verifyMembers(emitError, masks);
}
bool AnyOfMaskAttr::keepsAll() const {
  return llvm::any_of(getMasks(),
                      [](Attribute m) { return cast<MaskAttrInterface>(m).keepsAll(); });
}

/// The hull of two intervals may hold keys of neither.
bool AnyOfMaskAttr::rowsAreIntervals() const { return false; }

/// Hull of the members' non-empty ranges.
KeyRange AnyOfMaskAttr::keptRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  KeyRange range = {ctx.seqLenKV, ctx.constant(0)};
  forEachMember(getMasks(), ctx.params, [&](MaskAttrInterface member, ValueRange share) {
    MaskContext memberCtx = ctx.withParams(share);
    KeyRange next = member.keptRange(memberCtx, rowBegin, rowEnd);
    Value empty = ctx.lessEqual(next.end, next.begin);
    range.begin = ctx.select(empty, range.begin, ctx.min(range.begin, next.begin));
    range.end = ctx.select(empty, range.end, ctx.max(range.end, next.end));
  });
  return range;
}

/// The longest of the members' ranges: two ranges need not touch, so no union.
KeyRange AnyOfMaskAttr::fullRange(MaskContext &ctx, Value rowBegin, Value rowEnd) const {
  KeyRange range = {ctx.constant(0), ctx.constant(0)};
  forEachMember(getMasks(), ctx.params, [&](MaskAttrInterface member, ValueRange share) {
    MaskContext memberCtx = ctx.withParams(share);
    KeyRange next = member.fullRange(memberCtx, rowBegin, rowEnd);
    next = {ctx.max(next.begin, ctx.constant(0)), ctx.min(next.end, ctx.seqLenKV)};
    Value shorter = ctx.lessEqual(ctx.sub(next.end, next.begin), ctx.sub(range.end, range.begin));
    range = {ctx.select(shorter, range.begin, next.begin),
             ctx.select(shorter, range.end, next.end)};
  });
  return range;
}
Value AnyOfMaskAttr::predicate(MaskContext &ctx, Value i, Value j) const {
  Value keep;
  forEachMember(getMasks(), ctx.params, [&](MaskAttrInterface member, ValueRange share) {
    MaskContext memberCtx = ctx.withParams(share);
    Value next = member.predicate(memberCtx, i, j);
    keep = keep ? ctx.logicalOr(keep, next) : next;
  });
  return keep;
}
