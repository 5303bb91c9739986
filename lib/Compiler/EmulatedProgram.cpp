//===- EmulatedProgram.cpp - A GPU kernel that runs on the host -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/EmulatedProgram.h"

#include "attn/Emulator/TensorMap.h"
#include "attn/Runtime/Arguments.h"

#include <cstring>
#include <new>

using namespace attn;

/// Blocks of a persistent kernel: few, so that each takes work more than once.
static constexpr int64_t kPersistentBlocks = 3;

/// What the emulator reads in the place of the descriptor that a driver would encode: dims
/// columns, rows, heads, batch, the 128-byte swizzle, zeros outside.
static rt::Expected<rt::TensorMap> describe(const rt::ArgumentSpec &argument,
                                            const rt::TensorMapSpec &spec,
                                            const rt::TensorArg &tensor) {
  rt::TensorMap words;
  if (tensor.empty())
    return words;
  emu::TensorMap map;
  map.base = static_cast<std::byte *>(tensor.data);
  map.rank = 4;
  map.element = tensor.elementType == rt::ElementType::F16 ? emu::TensorElement::F16
                                                           : emu::TensorElement::BF16;
  map.swizzle = emu::Swizzle::Bytes128;
  constexpr int kOrder[] = {3, 1, 2, 0};
  for (int d = 0; d < 4; ++d) {
    map.sizes[d] = static_cast<uint32_t>(tensor.sizes[kOrder[d]]);
    map.box[d] = 1;
    if (d > 0)
      map.strides[d - 1] = tensor.sizes[kOrder[d]] < 2 ? 16 : tensor.strides[kOrder[d]] * 2;
  }
  map.box[0] = static_cast<uint16_t>(spec.cols);
  map.box[1] = static_cast<uint16_t>(spec.rows);
  if (std::string fault = map.check(); !fault.empty())
    return rt::fail(rt::ErrorCode::BadInput, "argument '" + argument.name + "': " + fault);
  std::memcpy(words.words.data(), &map, sizeof(map));
  return words;
}

rt::Status EmulatedProgram::run(std::span<const rt::Argument> arguments,
                                const emu::LaunchOptions &options) const {
  if (rt::Status status = rt::checkArguments(spec, arguments); !status)
    return status;
  rt::Expected<rt::WorkspaceLayout> layout = rt::layoutWorkspaces(spec, arguments);
  if (!layout)
    return rt::fail(layout.error());
  std::unique_ptr<char[]> scratch(new (std::nothrow) char[layout->bytes + rt::kWorkspaceAlignment]);
  if (!scratch)
    return rt::fail(rt::ErrorCode::Unavailable, "cannot allocate the " +
                                                    std::to_string(layout->bytes) +
                                                    " bytes of the call's workspaces");
  char *base = reinterpret_cast<char *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.get()), rt::kWorkspaceAlignment));

  // All that the kernels get, workspaces after the user's arguments.
  std::vector<rt::Argument> values(arguments.begin(), arguments.end());
  emu::GlobalMemory memory;
  for (auto [argument, argumentSpec] : llvm::zip(arguments, spec.arguments))
    if (const auto *tensor = std::get_if<rt::TensorArg>(&argument))
      memory.addTensor(argumentSpec.name, *tensor);
  for (auto [i, slot] : llvm::enumerate(layout->slots)) {
    auto tensor = rt::TensorArg::dense(base + slot.offset, slot.elementType, slot.shape);
    memory.addTensor("workspace " + std::to_string(i), tensor);
    values.push_back(tensor);
  }

  for (const rt::KernelEntry &kernel : spec.kernels) {
    rt::Expected<int64_t> grid = kernel.grid.evaluate(arguments);
    if (!grid)
      return rt::fail(grid.error().code, "kernel '" + kernel.name + "': " + grid.error().message);
    if (*grid == 0)
      continue;
    if (*grid > std::numeric_limits<int32_t>::max())
      return rt::fail(rt::ErrorCode::BadInput,
                      "kernel '" + kernel.name + "' needs " + std::to_string(*grid) +
                          " blocks, the limit is 2147483647; split the batch");
    rt::KernelParams params;
    for (int32_t index : kernel.arguments)
      params.add(values[index]);
    std::vector<rt::TensorMap> maps;
    for (const rt::TensorMapSpec &map : kernel.tensorMaps) {
      rt::Expected<rt::TensorMap> described = describe(
          spec.arguments[map.argument], map, std::get<rt::TensorArg>(values[map.argument]));
      if (!described)
        return rt::fail(described.error());
      maps.push_back(*described);
    }
    for (const rt::TensorMap &map : maps)
      params.add(map);
    if (kernel.persistent)
      grid = std::min(*grid, kPersistentBlocks);
    emu::Program::Request request;
    request.kernel = kernel.name;
    request.grid.x = static_cast<unsigned>(*grid);
    request.block.x = static_cast<unsigned>(kernel.threads);
    request.dynamicSharedBytes = static_cast<size_t>(kernel.dynamicSharedBytes);
    request.parameters = params.pointers();
    request.numParameters = params.slots().size() + maps.size();
    if (rt::Status status = program->launch(request, memory, options); !status)
      return status;
    if (options.onlyCta)
      return {};
  }
  return {};
}
