//===- Attention.cpp - Attention on tensors, compiled at need -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Attention.h"

#include "SpecValues.h"
#include "attn/Compiler/LengthClass.h"

#include <array>
#include <cmath>

using namespace attn;
using rt::TensorArg;

//===----------------------------------------------------------------------===//
// Checks of what the spec is read from
//===----------------------------------------------------------------------===//

static tl::unexpected<rt::Error> bad(std::string message) {
  return rt::fail(rt::ErrorCode::BadInput, std::move(message));
}

static rt::Status checkRank(const char *name, const TensorArg &tensor) {
  if (tensor.rank == 4)
    return {};
  return bad(std::string(name) + ": expected 4 dimensions [batch, seq, heads, head_dim], got " +
             std::to_string(tensor.rank) + ", shape " + tensor.shapeText());
}

/// Requires one size to be that of another tensor.
static rt::Status checkSize(const char *name, const char *dim, int64_t got, const char *other,
                            int64_t want) {
  if (got == want)
    return {};
  return bad(std::string(name) + ": expected " + dim + " " + std::to_string(want) + " as " + other +
             " has, got " + std::to_string(got));
}

static rt::Status checkType(const char *name, const TensorArg &tensor, rt::ElementType want) {
  if (tensor.elementType == want)
    return {};
  return bad(std::string(name) + ": expected element type " + std::string(rt::toString(want)) +
             " as q has, got " + std::string(rt::toString(tensor.elementType)));
}

/// Two elements at one address would be written by two threads; a result where an input lies would
/// be read as that input.
static rt::Status checkOutput(const AttentionTensors &tensors) {
  const TensorArg &o = tensors.o;
  if (o.empty())
    return {};
  for (int d = 0; d < o.rank; ++d)
    if (o.sizes[d] > 1 && o.strides[d] == 0)
      return bad("o: expected an element of its own at each index, got stride 0 in dimension " +
                 std::to_string(d) + ", shape " + o.shapeText());
  for (auto [name, input] : {std::pair<const char *, const TensorArg &>{"q", tensors.q},
                             {"k", tensors.k},
                             {"v", tensors.v}})
    if (input.data == o.data && !input.empty())
      return bad(std::string("o: expected memory of its own, got that of ") + name);
  return {};
}

/// The largest power of two, up to 16, that the addresses and strides of rows divide by.
static int64_t alignmentOf(std::initializer_list<const TensorArg *> tensors) {
  uint64_t bits = 16;
  for (const TensorArg *tensor : tensors) {
    if (tensor->empty())
      continue;
    bits |= reinterpret_cast<uintptr_t>(tensor->data);
    auto bytes = static_cast<uint64_t>(rt::byteSize(tensor->elementType));
    for (int d = 0; d + 1 < tensor->rank; ++d)
      if (tensor->sizes[d] > 1)
        bits |= static_cast<uint64_t>(tensor->strides[d]) * bytes;
  }
  return static_cast<int64_t>(bits & -bits);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

rt::Expected<KernelSpec> Attention::specOf(const AttentionTensors &tensors) const {
  const TensorArg &q = tensors.q, &k = tensors.k, &v = tensors.v, &o = tensors.o;
  rt::Status status = checkRank("q", q);
  auto then = [&](auto &&check) {
    if (status)
      status = check();
  };
  then([&] { return checkRank("k", k); });
  then([&] { return checkRank("v", v); });
  then([&] { return checkRank("o", o); });
  then([&] { return checkType("k", k, q.elementType); });
  then([&] { return checkType("v", v, q.elementType); });
  then([&] { return checkSize("k", "batch", k.sizes[0], "q", q.sizes[0]); });
  then([&] { return checkSize("v", "batch", v.sizes[0], "q", q.sizes[0]); });
  then([&] { return checkSize("v", "seq", v.sizes[1], "k", k.sizes[1]); });
  then([&] { return checkSize("v", "heads", v.sizes[2], "k", k.sizes[2]); });
  then([&] { return checkSize("k", "head_dim", k.sizes[3], "q", q.sizes[3]); });
  then([&] { return checkSize("o", "batch", o.sizes[0], "q", q.sizes[0]); });
  then([&] { return checkSize("o", "seq", o.sizes[1], "q", q.sizes[1]); });
  then([&] { return checkSize("o", "heads", o.sizes[2], "q", q.sizes[2]); });
  then([&] { return checkSize("o", "head_dim", o.sizes[3], "v", v.sizes[3]); });
  then([&] { return checkOutput(tensors); });
  if (!status)
    return rt::fail(status.error());

  KernelSpec spec = base;
  spec.phase = q.sizes[1] == 1 ? Phase::Decode : Phase::Prefill;
  spec.dtype = q.elementType;
  spec.out = o.elementType;
  spec.headDim = q.sizes[3];
  spec.headDimV = v.sizes[3];
  spec.headsQ = q.sizes[2];
  spec.headsKV = k.sizes[2];
  spec.alibi = tensors.slopes.has_value();
  spec.lse = tensors.lse.has_value();
  // Less than an element is for the check of the arguments, which names the tensor.
  spec.alignment = std::max(alignmentOf({&q, &k, &v, &o}), rt::byteSize(q.elementType));
  spec.maxSeqLen = lengthBound(std::max(q.sizes[1], k.sizes[1]));
  return spec;
}

rt::Expected<JitKernelPtr> Attention::kernel(const AttentionTensors &tensors, void *stream) const {
  rt::Expected<KernelSpec> spec = specOf(tensors);
  if (!spec)
    return rt::fail(spec.error());
  return jit->get(*spec, tensors.device, jit->mode(), stream);
}

namespace {

/// A call's arguments in the order of buildProblem.
class Arguments {
public:
  Arguments(const AttentionTensors &tensors, double scale) {
    for (const TensorArg *tensor : {&tensors.q, &tensors.k, &tensors.v, &tensors.o})
      add(*tensor);
    if (tensors.lse)
      add(*tensors.lse);
    if (tensors.slopes)
      add(*tensors.slopes);
    add(rt::ScalarArg(static_cast<float>(scale)));
  }
  std::span<const rt::Argument> values() const { return {storage.data(), count}; }

private:
  void add(rt::Argument argument) { storage[count++] = std::move(argument); }

  std::array<rt::Argument, 7> storage;
  size_t count = 0;
};

} // namespace

rt::Expected<size_t> Attention::workspaceBytes(const AttentionTensors &tensors,
                                               void *stream) const {
  rt::Expected<JitKernelPtr> found = kernel(tensors, stream);
  if (!found)
    return rt::fail(found.error());
  return (*found)->workspaceBytes(Arguments(tensors, 1).values());
}

rt::Status Attention::operator()(const AttentionTensors &tensors, std::optional<double> scale,
                                 const CallOptions &options) const {
  rt::Expected<KernelSpec> spec = specOf(tensors);
  if (!spec)
    return rt::fail(spec.error());
  if (!scale)
    scale = 1 / std::sqrt(static_cast<double>(*spec->headDim));
  else if (!(*scale >= 0) || !std::isfinite(static_cast<float>(*scale)))
    return bad("scale=" + spec::valueText(*scale) + ": expected a finite f32 number of at least 0");

  JitKernelPtr owner;
  const JitKernel *ready = jit->find(*spec, tensors.device);
  if (!ready) {
    rt::Expected<JitKernelPtr> made = jit->get(*spec, tensors.device, jit->mode(), options.stream);
    if (!made)
      return rt::fail(made.error());
    owner = std::move(*made);
    ready = owner.get();
  }
  return ready->run(Arguments(tensors, *scale).values(), options);
}
