//===- EmulatedProgram.cpp - A GPU kernel that runs on the host -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/EmulatedProgram.h"

#include "attn/Runtime/Arguments.h"

#include <new>

using namespace attn;

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
    emu::Program::Request request;
    request.kernel = kernel.name;
    request.grid.x = static_cast<unsigned>(*grid);
    request.block.x = static_cast<unsigned>(kernel.threads);
    request.dynamicSharedBytes = static_cast<size_t>(kernel.dynamicSharedBytes);
    request.parameters = params.pointers();
    request.numParameters = params.slots().size();
    if (rt::Status status = program->launch(request, memory, options); !status)
      return status;
    if (options.onlyCta)
      return {};
  }
  return {};
}
