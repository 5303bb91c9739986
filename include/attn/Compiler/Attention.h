//===- Attention.h - Attention on tensors, compiled at need -----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_ATTENTION_H
#define ATTN_COMPILER_ATTENTION_H

#include "attn/Compiler/Jit.h"

namespace attn {

/// The tensors of one call, all on one device. Any strides but that of the last dim, which is 1.
struct AttentionTensors {
  rt::TensorArg q;                     ///< [batch, seq_q, heads_q, head_dim], f32, bf16 or f16
  rt::TensorArg k;                     ///< [batch, seq_kv, heads_kv, head_dim], as q
  rt::TensorArg v;                     ///< [batch, seq_kv, heads_kv, head_dim_v], as q
  rt::TensorArg o;                     ///< [batch, seq_q, heads_q, head_dim_v], as q or f32
  std::optional<rt::TensorArg> lse;    ///< [batch, heads_q, seq_q], f32; natural logarithm
  std::optional<rt::TensorArg> slopes; ///< [heads_q], f32, dense: ALiBi
  Device device;
};

/// o = softmax(scale q k^T) v on whatever tensors come: derives the kernel that they need, from
/// element types to alignment, and finds or compiles it. Usable from any thread.
class Attention {
public:
  /// `base` says which attention: mask, window, soft cap, pinned schedule. What the tensors decide
  /// is overwritten: types, head dims, head counts, alibi, lse, alignment, phase, max_seq_len.
  /// `jit` outlives the object.
  explicit Attention(Jit &jit, KernelSpec base = {}) : jit(&jit), base(std::move(base)) {}

  /// What the kernel for these tensors is specialized for, not yet canonical. BadInput names the
  /// tensor, what was expected and what came.
  rt::Expected<KernelSpec> specOf(const AttentionTensors &tensors) const;

  /// The kernel for these tensors, in the mode of the Jit.
  rt::Expected<JitKernelPtr> kernel(const AttentionTensors &tensors, void *stream = nullptr) const;

  /// Bytes of scratch memory that the call takes on its device; 0 on the CPU.
  rt::Expected<size_t> workspaceBytes(const AttentionTensors &tensors,
                                      void *stream = nullptr) const;

  /// Computes o and lse; 1 / sqrt(head_dim) when no scale is given. See JitKernel::run.
  rt::Status operator()(const AttentionTensors &tensors, std::optional<double> scale = std::nullopt,
                        const CallOptions &options = {}) const;

private:
  Jit *jit;
  KernelSpec base;
};

} // namespace attn

#endif // ATTN_COMPILER_ATTENTION_H
