//===- RunTensors.cpp - The tensors of one call ---------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTensors.h"

#include <unistd.h>

using namespace attn;
using llvm::formatv;

rt::Expected<std::vector<rt::Argument>>
ProblemTensors::arguments(const rt::Manifest &manifest) const {
  std::vector<rt::Argument> result;
  for (const rt::ArgumentSpec &argument : manifest.arguments) {
    if (argument.name == "scale")
      result.push_back(rt::ScalarArg(scale));
    else if (argument.name == "slopes")
      result.push_back(rt::TensorArg::dense(const_cast<float *>(slopes.data()),
                                            rt::ElementType::F32,
                                            {static_cast<int64_t>(slopes.size())}));
    else if (const TensorBuffer *buffer = llvm::StringSwitch<const TensorBuffer *>(argument.name)
                                              .Case("q", &q)
                                              .Case("k", &k)
                                              .Case("v", &v)
                                              .Case("o", &o)
                                              .Case("lse", &lse)
                                              .Default(nullptr))
      result.push_back(buffer->view());
    else
      return rt::fail(rt::ErrorCode::Internal, "unknown argument '" + argument.name + "'");
  }
  return result;
}

/// Refuses what no memory of this machine holds, before sizes are multiplied as integers.
static rt::Status checkMemory(const RunRequest &request) {
  const KernelSpec &spec = request.spec;
  auto real = [](std::optional<int64_t> value) { return static_cast<double>(*value); };
  double queries = real(request.shape.batch) * real(request.shape.seqQ) * real(spec.headsQ);
  double keys = real(request.shape.batch) * real(request.shape.seqKV) * real(spec.headsKV);
  double inBytes = static_cast<double>(rt::byteSize(spec.dtype));
  double bytes = queries * (real(spec.headDim) * inBytes + real(spec.headDimV) * 4 + 4) +
                 keys * (real(spec.headDim) + real(spec.headDimV)) * inBytes;
  if (request.layout == Layout::Packed)
    bytes *= 3;
  // The exact and the naive result are kept in f64.
  if (request.check)
    bytes += 2 * 8 * queries * (real(spec.headDimV) + 1);
  double limit =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= limit)
    return {};
  return rt::fail(rt::ErrorCode::BadInput,
                  formatv("{0}: its tensors take {1:F1} GB, more than the {2:F1} GB of this "
                          "machine; use a smaller batch, seq_q or seq_kv",
                          toText(request.shape), bytes * 1e-9, limit * 1e-9));
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), ", ") +
         "]";
}

rt::Expected<NpyArray> attn::readShaped(llvm::StringRef flag, const std::string &path,
                                        const rt::TensorArg &tensor) {
  rt::Expected<NpyArray> array = readNpy(path);
  if (!array)
    return rt::fail({array.error().code, flag.str() + " " + array.error().message});
  std::vector<int64_t> want(tensor.sizes.begin(), tensor.sizes.begin() + tensor.rank);
  if (array->shape != want)
    return rt::fail(rt::ErrorCode::BadInput,
                    flag.str() + " " + path + ": expected shape " + shapeText(want) +
                        " (batch, seq, heads, dim), got " + shapeText(array->shape));
  return array;
}

std::span<char> ProblemTensors::memoryOf(const rt::TensorArg &argument) const {
  for (const TensorBuffer *buffer : {&q, &k, &v, &o, &lse})
    if (buffer->data() == argument.data)
      return {static_cast<char *>(buffer->data()), buffer->bytes()};
  return {reinterpret_cast<char *>(const_cast<float *>(slopes.data())),
          slopes.size() * sizeof(float)};
}

rt::Expected<ProblemTensors> ProblemTensors::create(const RunRequest &request) {
  const KernelSpec &spec = request.spec;
  const RunShape &shape = request.shape;
  if (rt::Status status = checkMemory(request); !status)
    return rt::fail(status.error());

  Layout outLayout = request.layout == Layout::Broadcast ? Layout::Dense : request.layout;
  auto make = [&](rt::ElementType type, Layout layout, std::vector<int64_t> sizes) {
    return TensorBuffer::create(type, layout, sizes, spec.alignment);
  };
  auto q = make(spec.dtype, outLayout, {*shape.batch, *shape.seqQ, *spec.headsQ, *spec.headDim});
  auto k =
      make(spec.dtype, request.layout, {*shape.batch, *shape.seqKV, *spec.headsKV, *spec.headDim});
  auto v =
      make(spec.dtype, request.layout, {*shape.batch, *shape.seqKV, *spec.headsKV, *spec.headDimV});
  auto o = make(*spec.out, outLayout, {*shape.batch, *shape.seqQ, *spec.headsQ, *spec.headDimV});
  auto lse = make(rt::ElementType::F32, Layout::Dense, {*shape.batch, *spec.headsQ, *shape.seqQ});
  for (auto *buffer : {&q, &k, &v, &o, &lse})
    if (!*buffer)
      return rt::fail(buffer->error());
  ProblemTensors tensors{std::move(*q),
                         std::move(*k),
                         std::move(*v),
                         std::move(*o),
                         std::move(*lse),
                         alibiSlopes(*spec.headsQ),
                         static_cast<float>(*shape.scale)};

  struct Input {
    const char *flag;
    const std::string &file;
    const TensorBuffer &buffer;
    Operand operand;
  };
  for (const Input &input : {Input{"--q", request.qFile, tensors.q, Operand::Q},
                             Input{"--k", request.kFile, tensors.k, Operand::K},
                             Input{"--v", request.vFile, tensors.v, Operand::V}}) {
    if (input.file.empty()) {
      fillInput(input.buffer.view(), input.operand, request.inputs, spec, request.seed, 0);
      continue;
    }
    auto array = readShaped(input.flag, input.file, input.buffer.view());
    if (!array)
      return rt::fail(array.error());
    fillFrom(input.buffer.view(), *array);
  }
  // What the kernel does not write stays NaN and fails.
  if (request.layout != Layout::Sparse)
    tensors.o.poison();
  tensors.lse.poison();
  return tl::expected<ProblemTensors, rt::Error>(std::move(tensors));
}
