//===- KernelSpec.h - An attention problem in words -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A KernelSpec is everything that a kernel is specialized for; a RunShape is what
// a call passes at run time. Both are read from `key=value` words or JSON files:
//
//   dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal window=1024
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_KERNELSPEC_H
#define ATTN_COMPILER_KERNELSPEC_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Runtime/Error.h"
#include "attn/Runtime/TensorArg.h"
#include "attn/Target/Schedule.h"

#include <llvm/Support/JSON.h>

#include <cstdint>
#include <optional>
#include <string>

namespace attn {

enum class Phase { Prefill, Decode };
enum class MaskKind { None, Causal, CausalTopLeft, Window, WindowTopLeft };
enum class KVKind { Dense };

/// A key with the inclusive range of its integer values, and what they are multiples of.
struct SpecKey {
  llvm::StringLiteral name;
  llvm::StringLiteral help;
  int64_t min = 0;
  int64_t max = 0;
  int64_t multiple = 1;
};

struct KernelSpec {
  Phase phase = Phase::Prefill;
  rt::ElementType dtype = rt::ElementType::BF16;
  std::optional<rt::ElementType> out; ///< dtype when not given.
  std::optional<int64_t> headDim, headDimV, headsQ, headsKV;
  MaskKind mask = MaskKind::None;
  /// Inclusive counts of keys beside the diagonal key; -1 is unlimited.
  std::optional<int64_t> windowLeft, windowRight;
  std::optional<double> softcap;
  bool alibi = false;
  bool lse = true;
  KVKind kv = KVKind::Dense;
  int64_t alignment = 16; ///< Bytes that all addresses and row strides divide by.
  /// A hint: sequences that the schedule is chosen for; longer ones are computed as well.
  std::optional<int64_t> maxSeqLen;
  SchedulePins pins;
  bool operator==(const KernelSpec &) const = default;
};

/// What a call passes besides its tensors' contents.
struct RunShape {
  std::optional<int64_t> batch, seqQ, seqKV;
  std::optional<double> scale; ///< 1 / sqrt(head_dim) when not given.
  bool operator==(const RunShape &) const = default;
};

/// Calls visit(SpecKey, field) for every field, in the order of canonical text.
template <class Pins, class Visitor> void visitPins(Pins &pins, Visitor &&visit) {
  visit(SpecKey{"algorithm", "naive, two_pass, fa1 or fa2"}, pins.algorithm);
  visit(SpecKey{"q_tile", "rows of a Q tile", 1, 1024}, pins.qTile);
  visit(SpecKey{"kv_tile", "rows of a K/V tile", 1, 1024}, pins.kvTile);
  visit(SpecKey{"stages", "K/V tiles in flight or in use", 1, 8}, pins.stages);
  visit(SpecKey{"warps", "warps of a CTA", 1, 32}, pins.warps);
  visit(SpecKey{"warp_split", "warps share out rows or keys"}, pins.warpSplit);
  visit(SpecKey{"split_kv", "parts along the keys, merged at the end", 1, 1024}, pins.splitKV);
  visit(SpecKey{"instruction", "mma, wgmma or fma"}, pins.instruction);
  visit(SpecKey{"q_in_registers", "keep Q fragments in registers"}, pins.qInRegisters);
  visit(SpecKey{"order", "linear or longest_first"}, pins.order);
  visit(SpecKey{"kv_order", "ascending or descending"}, pins.kvOrder);
  visit(SpecKey{"overlap", "softmax beside the products of its neighbours"}, pins.overlap);
  visit(SpecKey{"pingpong", "warpgroups take turns at products"}, pins.pingpong);
  visit(SpecKey{"persistent", "none, static or dynamic"}, pins.persistent);
  visit(SpecKey{"q_stages", "Q tiles, or parts of them, in flight or in use", 1, 8}, pins.qStages);
  visit(SpecKey{"q_by_warpgroup", "Q comes by parts, one for each warpgroup; q_stages counts them"},
        pins.qByWarpgroup);
  visit(SpecKey{"producer", "copies K, V and Q by tma or cp_async"}, pins.producer);
  visit(SpecKey{"producer_registers", "registers of a thread that copies, 0 for its share", 0, 256},
        pins.producerRegisters);
  visit(
      SpecKey{"consumer_registers", "registers of a thread that computes, 0 for its share", 0, 256},
      pins.consumerRegisters);
  visit(SpecKey{"integer_max", "compare scores with their reference as integers"}, pins.integerMax);
  visit(SpecKey{"lazy_rescale", "the softmax reference moves for scores 2^8 above it alone"},
        pins.lazyRescale);
  visit(SpecKey{"pack_gqa", "one query: rows of a tile are the query heads of a key/value head"},
        pins.packGqa);
}

template <class Spec, class Visitor> void visitSpec(Spec &spec, Visitor &&visit) {
  visit(SpecKey{"phase", "prefill, or decode (one query for each sequence)"}, spec.phase);
  visit(SpecKey{"dtype", "element type of q, k and v: f32, bf16 or f16"}, spec.dtype);
  visit(SpecKey{"out", "element type of o: that of q, or f32"}, spec.out);
  visit(SpecKey{"head_dim", "columns of q and k, a multiple of 8", 8, 256, 8}, spec.headDim);
  visit(SpecKey{"head_dim_v", "columns of v and o, a multiple of 8 (default: head_dim)", 8, 512, 8},
        spec.headDimV);
  visit(SpecKey{"heads_q", "query heads", 1, 65536}, spec.headsQ);
  visit(SpecKey{"heads_kv", "key and value heads (default: heads_q)", 1, 65536}, spec.headsKV);
  visit(SpecKey{"mask", "none, causal, causal_top_left, window or window_top_left"}, spec.mask);
  visit(SpecKey{"window_left", "keys left of the diagonal key, -1 for all", -1, INT64_MAX},
        spec.windowLeft);
  visit(SpecKey{"window_right", "keys right of the diagonal key, -1 for all", -1, INT64_MAX},
        spec.windowRight);
  visit(SpecKey{"softcap", "bounds scores: cap * tanh(score / cap)"}, spec.softcap);
  visit(SpecKey{"alibi", "linear position bias with one slope for each query head"}, spec.alibi);
  visit(SpecKey{"lse", "also write the log-sum-exp of each row"}, spec.lse);
  visit(SpecKey{"kv", "where K and V live: dense"}, spec.kv);
  visit(SpecKey{"alignment", "bytes that addresses and row strides divide by", 2, 256},
        spec.alignment);
  visit(SpecKey{"max_seq_len",
                "longest sequence that the schedule is chosen for (a hint; default: any)", 1,
                INT32_MAX},
        spec.maxSeqLen);
  visitPins(spec.pins, visit);
}

template <class Shape, class Visitor> void visitShape(Shape &shape, Visitor &&visit) {
  visit(SpecKey{"batch", "sequences (default: 1)", 0, INT32_MAX}, shape.batch);
  visit(SpecKey{"seq_q", "queries of a sequence", 0, INT32_MAX}, shape.seqQ);
  visit(SpecKey{"seq_kv", "keys of a sequence (default: seq_q)", 0, INT32_MAX}, shape.seqKV);
  visit(SpecKey{"scale", "factor of Q K^T (default: 1 / sqrt(head_dim))"}, shape.scale);
}

struct ParsedSpec {
  KernelSpec spec; ///< Canonical.
  RunShape shape;
};

enum class ShapeWords { Allowed, Refused };

/// llvm::json::parse, which recurses, for text that may nest as deep as its author likes: more than
/// 64 levels are an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// A key that is given twice in one object of valid JSON: llvm::json keeps the last of two.
std::optional<std::string> repeatedKey(llvm::StringRef text);

/// Reads `key=value` words; a word that ends in .json names a file of one flat
/// object. BadInput names the key, its value, the limit and the nearest known key.
rt::Expected<ParsedSpec> parseSpec(llvm::ArrayRef<std::string> words, ShapeWords shapeWords);

/// Reads the text of a JSON file; `name` is what messages call it.
rt::Expected<ParsedSpec> parseSpecJson(llvm::StringRef text, llvm::StringRef name,
                                       ShapeWords shapeWords);

/// Fills in defaults, folds the mask into its simplest form and refuses
/// contradictions. Specs of equal problems have equal canonical forms.
rt::Expected<KernelSpec> canonicalize(KernelSpec spec);

/// The shape with its defaults, checked against the spec.
rt::Expected<RunShape> canonicalize(RunShape shape, const KernelSpec &spec);

/// The spec as `key=value` words; reads back as the same spec.
std::string toText(const KernelSpec &spec);
std::string toText(const RunShape &shape);

/// All keys with their help, one a line, for `--help`.
std::string specHelp();

/// The candidate nearest to a misspelled word as "; did you mean 'x'?", or nothing.
std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace attn

#endif // ATTN_COMPILER_KERNELSPEC_H
