//===- RunOnCuda.cpp - Runs a problem on a GPU ----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTensors.h"

using namespace attn;

namespace {

/// The arguments of a call with their tensors moved to the device.
class DeviceArguments {
public:
  static rt::Expected<DeviceArguments> create(rt::CudaContextPtr context,
                                              const ProblemTensors &tensors,
                                              std::vector<rt::Argument> arguments);
  const std::vector<rt::Argument> &arguments() const { return values; }
  /// Copies every tensor back, inputs too.
  rt::Status copyBack();

private:
  rt::CudaContextPtr context;
  std::vector<rt::Argument> values;
  std::vector<std::pair<rt::DeviceBuffer, std::span<char>>> memory;
};

} // namespace

rt::Expected<DeviceArguments> DeviceArguments::create(rt::CudaContextPtr context,
                                                      const ProblemTensors &tensors,
                                                      std::vector<rt::Argument> arguments) {
  DeviceArguments result;
  result.context = context;
  result.values = std::move(arguments);
  for (rt::Argument &value : result.values) {
    auto *tensor = std::get_if<rt::TensorArg>(&value);
    if (!tensor)
      continue;
    std::span<char> host = tensors.memoryOf(*tensor);
    auto buffer = rt::DeviceBuffer::allocate(context, host.size());
    if (!buffer)
      return rt::fail(buffer.error());
    if (rt::Status status = context->copyToDevice(buffer->address(), host.data(), host.size());
        !status)
      return rt::fail(status.error());
    tensor->data = buffer->data();
    result.memory.emplace_back(std::move(*buffer), host);
  }
  return tl::expected<DeviceArguments, rt::Error>(std::move(result));
}

rt::Status DeviceArguments::copyBack() {
  for (auto &[buffer, host] : memory)
    if (rt::Status status = context->copyToHost(host.data(), buffer.address(), host.size());
        !status)
      return status;
  return {};
}

rt::Expected<std::vector<double>> ProblemRunner::runOnCuda(const RunRequest &request,
                                                           ProblemTensors &tensors) {
  if (request.layout == Layout::Sparse)
    return rt::fail(rt::ErrorCode::BadInput, "--layout sparse: expected --device cpu, since a "
                                             "device has no memory for the gaps");
  rt::Expected<rt::LoadedArtifactPtr> artifact =
      compiler.compile(request.spec, options.payload, cache);
  if (!artifact)
    return rt::fail(artifact.error());
  rt::Expected<rt::Module::Ptr> module = (*artifact)->module(context);
  if (!module)
    return rt::fail(module.error());
  auto host = tensors.arguments((*module)->manifest());
  if (!host)
    return rt::fail(host.error());
  auto device = DeviceArguments::create(context, tensors, std::move(*host));
  if (!device)
    return rt::fail(device.error());

  rt::Workspace workspace(context);
  auto timer = rt::CudaTimer::create(context);
  if (!timer)
    return rt::fail(timer.error());
  std::vector<double> times;
  // One more than is timed, to warm up.
  for (unsigned i = 0; i <= request.repeat; ++i) {
    rt::Status status = timer->start();
    if (status)
      status = rt::launch(**module, device->arguments(), workspace);
    if (status)
      status = timer->stop();
    if (!status)
      return rt::fail(status.error());
    rt::Expected<float> elapsed = timer->elapsedMs();
    if (!elapsed)
      return rt::fail(elapsed.error());
    if (i > 0)
      times.push_back(*elapsed);
  }
  if (rt::Status status = device->copyBack(); !status)
    return rt::fail(status.error());
  return times;
}
