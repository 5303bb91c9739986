//===- HostProgram.cpp - A problem compiled for this machine --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/HostProgram.h"

#include "attn/Runtime/Arguments.h"

#include <new>

using namespace attn;

static HostArg toHostArg(const rt::TensorArg &tensor) {
  return HostTensor{tensor.data,
                    {tensor.sizes.begin(), tensor.sizes.begin() + tensor.rank},
                    {tensor.strides.begin(), tensor.strides.begin() + tensor.rank}};
}

static HostArg toHostArg(const rt::ScalarArg &scalar) {
  return std::visit(
      [](auto value) -> HostArg {
        if constexpr (std::is_floating_point_v<decltype(value)>)
          return static_cast<float>(value);
        else
          return static_cast<int64_t>(value);
      },
      scalar);
}

rt::Status HostProgram::run(std::span<const rt::Argument> arguments, unsigned threads) const {
  if (rt::Status status = rt::checkArguments(spec, arguments); !status)
    return status;
  rt::Expected<rt::WorkspaceLayout> layout = rt::layoutWorkspaces(spec, arguments);
  if (!layout)
    return rt::fail(layout.error());

  llvm::SmallVector<HostArg> hostArgs;
  for (const rt::Argument &argument : arguments)
    hostArgs.push_back(std::visit([](const auto &value) { return toHostArg(value); }, argument));
  std::unique_ptr<char[]> scratch(new (std::nothrow) char[layout->bytes + rt::kWorkspaceAlignment]);
  if (!scratch)
    return rt::fail(rt::ErrorCode::Unavailable, "cannot allocate the " +
                                                    std::to_string(layout->bytes) +
                                                    " bytes of the call's workspaces");
  char *base = reinterpret_cast<char *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.get()), rt::kWorkspaceAlignment));
  for (const rt::WorkspaceLayout::Slot &slot : layout->slots)
    hostArgs.push_back(
        toHostArg(rt::TensorArg::dense(base + slot.offset, slot.elementType, slot.shape)));

  if (llvm::Error error = kernel->run(hostArgs, threads))
    return rt::fail(rt::ErrorCode::Internal, llvm::toString(std::move(error)));
  return {};
}
