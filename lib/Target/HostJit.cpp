//===- HostJit.cpp - Loads and runs kernels on the host -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/HostJit.h"

#include "HostImage.h"
#include "attn/Conversion/AttnToCPU/AttnToCPU.h"
#include "attn/Runtime/Fork.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/ThreadPool.h>

#include <atomic>
#include <cstring>

using namespace mlir;
using namespace attn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

namespace {
using PackedFunction = void (*)(void **);

/// One kernel of a module.
struct Entry {
  PackedFunction run;
  PackedFunction countTiles;
};
} // namespace

struct HostKernel::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  SmallVector<Entry> entries;
  std::vector<HostParameter> parameters;
  /// Made by the first run that wants more than one thread, replaced by one that wants more.
  rt::PerProcess<llvm::DefaultThreadPool> pool;

  std::shared_ptr<llvm::DefaultThreadPool> getPool(unsigned numThreads);
  void runEntry(const Entry &entry, ArrayRef<void *> slots, unsigned numThreads);
};

HostKernel::HostKernel() : state(std::make_unique<State>()) {}
HostKernel::~HostKernel() = default;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static llvm::Expected<PackedFunction> lookup(llvm::orc::LLJIT &jit, const std::string &name) {
  auto address = jit.lookup(name + kPackedSuffix.str());
  if (!address)
    return address.takeError();
  return address->toPtr<PackedFunction>();
}

llvm::Expected<std::unique_ptr<HostKernel>> HostKernel::load(llvm::StringRef bytes) {
  auto image = HostImage::fromBytes(bytes);
  if (!image)
    return image.takeError();
  auto builder = makeHostMachineBuilder();
  if (!builder)
    return builder.takeError();
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error =
          (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(image->object, "kernels")))
    return error;
  std::unique_ptr<HostKernel> kernel(new HostKernel());
  kernel->state->jit = std::move(*jit);
  kernel->state->parameters = std::move(image->parameters);
  for (const std::string &name : image->kernels) {
    auto run = lookup(*kernel->state->jit, name);
    if (!run)
      return run.takeError();
    auto count = lookup(*kernel->state->jit, name + kNumTilesSuffix.str());
    if (!count)
      return count.takeError();
    kernel->state->entries.push_back({*run, *count});
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static llvm::Error checkArgument(unsigned position, const HostParameter &parameter,
                                 const HostArg &arg) {
  // An argument that fits makes no text.
  auto misfit = [&](const Twine &got) {
    return makeError(
        llvm::formatv("argument {0}: expected {1}, got {2}", position, parameter.type, got.str()));
  };
  auto *tensor = std::get_if<HostTensor>(&arg);
  if (parameter.kind != HostParameter::Tensor) {
    bool fits = parameter.kind == HostParameter::Float ? std::holds_alternative<float>(arg)
                                                       : std::holds_alternative<int64_t>(arg);
    return fits ? llvm::Error::success() : misfit(tensor ? "a tensor" : "another scalar");
  }
  if (!tensor)
    return misfit("a scalar");
  size_t rank = parameter.sizes.size();
  if (tensor->sizes.size() != rank || tensor->strides.size() != rank)
    return misfit(
        llvm::formatv("{0} sizes and {1} strides", tensor->sizes.size(), tensor->strides.size()));
  // Nothing is read or written through the strides and the address of an empty tensor.
  bool isEmpty = llvm::is_contained(tensor->sizes, 0);
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t size = tensor->sizes[dim], stride = tensor->strides[dim];
    int64_t wantedSize = parameter.sizes[dim], wantedStride = parameter.strides[dim];
    if (size < 0 || (!ShapedType::isDynamic(wantedSize) && wantedSize != size))
      return misfit(llvm::formatv("size {0} in dim {1}", size, dim));
    if (!isEmpty && size > 1 && !ShapedType::isDynamic(wantedStride) && wantedStride != stride)
      return misfit(llvm::formatv("stride {0} in dim {1}, where the kernel was compiled for {2}",
                                  stride, dim, wantedStride));
  }
  if (!tensor->data && !isEmpty)
    return misfit("a null pointer");
  return llvm::Error::success();
}

/// The values behind a kernel's packed entry: a memref is (allocated, aligned, offset,
/// sizes..., strides...), each value in eight bytes.
static void appendValues(const HostArg &arg, SmallVectorImpl<uint64_t> &values) {
  if (auto *tensor = std::get_if<HostTensor>(&arg)) {
    auto address = reinterpret_cast<uintptr_t>(tensor->data);
    values.append({address, address, 0});
    values.append(tensor->sizes.begin(), tensor->sizes.end());
    values.append(tensor->strides.begin(), tensor->strides.end());
    return;
  }
  uint64_t bits = 0;
  if (auto *number = std::get_if<float>(&arg))
    std::memcpy(&bits, number, sizeof(*number));
  else
    bits = std::get<int64_t>(arg);
  values.push_back(bits);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::shared_ptr<llvm::DefaultThreadPool> HostKernel::State::getPool(unsigned numThreads) {
  // A run that still uses the old pool keeps it alive.
  return pool.get([&](auto &made) { return made.getMaxConcurrency() >= numThreads; },
                  [&] {
                    llvm::ThreadPoolStrategy strategy;
                    strategy.ThreadsRequested = numThreads;
                    strategy.UseHyperThreads = true;
                    return std::make_shared<llvm::DefaultThreadPool>(strategy);
                  });
}

/// Hands out ranges of tiles, long ones first, so that threads seldom come back for more
/// and still end together.
void HostKernel::State::runEntry(const Entry &entry, ArrayRef<void *> slots, unsigned numThreads) {
  int64_t numTiles = 0;
  SmallVector<void *> countSlots(slots);
  countSlots.push_back(&numTiles);
  entry.countTiles(countSlots.data());

  std::atomic<int64_t> next = 0;
  auto work = [&] {
    int64_t begin = next, end;
    SmallVector<void *> rangeSlots(slots);
    rangeSlots.append({&begin, &end});
    while (begin < numTiles) {
      int64_t share = (numTiles - begin) / (4 * static_cast<int64_t>(numThreads));
      end = begin + std::max<int64_t>(share, 1);
      if (!next.compare_exchange_weak(begin, end))
        continue;
      entry.run(rangeSlots.data());
      begin = next;
    }
  };
  int64_t helpers = std::min<int64_t>(numThreads, numTiles) - 1;
  if (helpers < 1)
    return work();
  std::shared_ptr<llvm::DefaultThreadPool> threads = getPool(numThreads - 1);
  llvm::ThreadPoolTaskGroup group(*threads);
  for (int64_t i = 0; i < helpers; ++i)
    threads->async(group, work);
  work();
  threads->wait(group);
}

llvm::Error HostKernel::run(ArrayRef<HostArg> args, unsigned numThreads) {
  if (args.size() != state->parameters.size())
    return makeError(
        llvm::formatv("expected {0} arguments, got {1}", state->parameters.size(), args.size()));
  SmallVector<uint64_t> values;
  for (auto [position, arg] : llvm::enumerate(args)) {
    if (llvm::Error error = checkArgument(position, state->parameters[position], arg))
      return error;
    appendValues(arg, values);
  }
  SmallVector<void *> slots;
  for (uint64_t &value : values)
    slots.push_back(&value);
  if (numThreads == 0)
    numThreads = llvm::hardware_concurrency().compute_thread_count();
  for (const Entry &entry : state->entries)
    state->runEntry(entry, slots, numThreads);
  return llvm::Error::success();
}
