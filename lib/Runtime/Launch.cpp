//===- Launch.cpp - Calling a loaded artifact -----------------------------===//

#include "attn/Runtime/Launch.h"

#include "attn/Runtime/Nvtx.h"

#include <algorithm>
#include <vector>

namespace attn::rt {

Status Workspace::reserve(size_t bytes) {
  if (bytes <= buffer.size())
    return {};
  // Freed first: both at once might not fit.
  buffer.reset();
  Expected<DeviceBuffer> larger = DeviceBuffer::allocate(context, bytes);
  if (!larger)
    return fail(larger.error().code,
                "workspace of " + std::to_string(bytes) + " bytes: " + larger.error().message);
  buffer = std::move(*larger);
  return {};
}

Expected<TensorArg> Workspace::tileCounter(cuda::Stream stream) {
  Expected<bool> capturing = context->isCapturing(stream);
  if (!capturing)
    return fail(capturing.error());
  // A graph runs whenever its owner likes, beside this stream and other graphs.
  if (*capturing)
    return counters->take(stream);
  // A kernel that has drawn all of its tiles leaves 0. One that has not cannot hand a wrong counter
  // on: a launch that fails runs no block, and a kernel that faults takes the context down, after
  // which nothing else runs.
  if (!ownCounter) {
    Expected<TensorArg> counter = counters->take(stream);
    if (!counter)
      return counter;
    ownCounter = *counter;
  }
  return *ownCounter;
}

/// Refuses tensors that the driver does not know, or that lie on another device:
/// a kernel that reads them would take the whole context down.
static Status checkPlacement(const Module &module, std::span<const Argument> arguments) {
  const DeviceInfo &device = module.context()->device();
  const cuda::CudaApi &api = module.context()->driver().api();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto *tensor = std::get_if<TensorArg>(&arguments[i]);
    if (!tensor || tensor->empty())
      continue;
    const std::string &name = module.manifest().arguments[i].name;
    const std::string expected =
        "argument '" + name + "': expected memory of device " + std::to_string(device.ordinal);
    int ordinal = -1;
    if (api.pointerGetAttribute(&ordinal, cuda::kPointerDeviceOrdinal,
                                reinterpret_cast<uintptr_t>(tensor->data)) != cuda::kSuccess)
      return fail(ErrorCode::BadInput,
                  expected + ", got an address the CUDA driver does not know (host memory?); copy "
                             "the tensor to the device");
    if (ordinal >= 0 && ordinal != device.ordinal)
      return fail(ErrorCode::BadInput, expected + ", got memory of device " +
                                           std::to_string(ordinal) +
                                           "; move the tensor, or load the kernel there");
  }
  return {};
}

/// All parameters of a kernel; tile counter and maps are the workspace's.
static Expected<KernelParams> packParams(const Module &module, const KernelEntry &kernel,
                                         std::span<const Argument> arguments,
                                         const std::vector<TensorArg> &scratch,
                                         Workspace &workspace, cuda::Stream stream) {
  KernelParams params;
  for (int32_t index : kernel.arguments) {
    if (static_cast<size_t>(index) < arguments.size())
      params.add(arguments[index]);
    else
      params.add(scratch[index - arguments.size()]);
  }
  if (kernel.tileCounter) {
    Expected<TensorArg> counter = workspace.tileCounter(stream);
    if (!counter)
      return fail(counter.error().code, "kernel '" + kernel.name + "': " + counter.error().message);
    params.add(*counter);
  }
  for (const TensorMapSpec &spec : kernel.tensorMaps) {
    Expected<const TensorMap *> map = workspace.tensorMaps().get(
        module.context()->driver(), module.manifest().arguments[spec.argument], spec,
        std::get<TensorArg>(arguments[spec.argument]));
    if (!map)
      return fail(map.error());
    params.add(**map);
  }
  return params;
}

/// The call's scratch memory: the caller's, or that of `workspace`, made large enough.
static Expected<char *> findScratch(size_t bytes, Workspace &workspace,
                                    const LaunchOptions &options) {
  if (options.scratch) {
    if (options.scratchBytes < bytes)
      return fail(ErrorCode::BadInput, "scratch memory: expected at least " +
                                           std::to_string(bytes) + " bytes, got " +
                                           std::to_string(options.scratchBytes));
    if (reinterpret_cast<uintptr_t>(options.scratch) % kWorkspaceAlignment != 0)
      return fail(ErrorCode::BadInput, "scratch memory: expected an address aligned to " +
                                           std::to_string(kWorkspaceAlignment) + " bytes");
    return static_cast<char *>(options.scratch);
  }
  if (bytes > workspace.capacity()) {
    Expected<bool> capturing = workspace.owner().isCapturing(options.stream);
    if (!capturing)
      return fail(capturing.error());
    if (*capturing)
      return fail(ErrorCode::Busy,
                  "this call needs a workspace of " + std::to_string(bytes) +
                      " bytes, which cannot be allocated while a CUDA graph is captured; make the "
                      "call once on this stream before the capture, or pass scratch memory");
    if (Status status = workspace.reserve(bytes); !status)
      return fail(status.error());
  }
  return static_cast<char *>(workspace.data());
}

/// The workspaces as tensors inside the scratch memory.
static std::vector<TensorArg> placeWorkspaces(const WorkspaceLayout &layout, char *scratch) {
  std::vector<TensorArg> tensors;
  for (const WorkspaceLayout::Slot &slot : layout.slots)
    tensors.push_back(TensorArg::dense(scratch + slot.offset, slot.elementType, slot.shape));
  return tensors;
}

Status launch(const Module &module, std::span<const Argument> arguments, Workspace &workspace,
              const LaunchOptions &options) {
  const Manifest &manifest = module.manifest();
  const CudaContext &context = *module.context();
  if (Status status = checkArguments(manifest, arguments); !status)
    return status;
  Expected<std::vector<int64_t>> grids = evaluateGrids(manifest, arguments);
  if (!grids)
    return fail(grids.error());
  Expected<WorkspaceLayout> layout = layoutWorkspaces(manifest, arguments);
  if (!layout)
    return fail(layout.error());
  if (std::all_of(grids->begin(), grids->end(), [](int64_t grid) { return grid == 0; }))
    return {};
  if (workspace.owner().device().ordinal != context.device().ordinal)
    return fail(ErrorCode::BadInput,
                "expected a workspace of device " + std::to_string(context.device().ordinal) +
                    ", got one of device " + std::to_string(workspace.owner().device().ordinal));

  CudaContext::Scope scope(context);
  if (!scope.status())
    return scope.status();
  if (options.checkPointers)
    if (Status status = checkPlacement(module, arguments); !status)
      return status;
  Expected<char *> memory = findScratch(static_cast<size_t>(layout->bytes), workspace, options);
  if (!memory)
    return fail(memory.error());
  const std::vector<TensorArg> scratch = placeWorkspaces(*layout, *memory);
  std::vector<KernelParams> params(manifest.kernels.size());
  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    if ((*grids)[i] == 0)
      continue;
    Expected<KernelParams> packed =
        packParams(module, manifest.kernels[i], arguments, scratch, workspace, options.stream);
    if (!packed)
      return fail(packed.error());
    params[i] = std::move(*packed);
  }

  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    const KernelEntry &kernel = manifest.kernels[i];
    int64_t grid = (*grids)[i];
    if (grid == 0)
      continue;
    if (kernel.persistent)
      grid = std::min<int64_t>(grid, context.device().multiprocessors);
    const NvtxRange range(kernel.name);
    cuda::Result result =
        context.driver().api().launchKernel(module.function(i), static_cast<unsigned>(grid), 1, 1,
                                            static_cast<unsigned>(kernel.threads), 1, 1,
                                            static_cast<unsigned>(kernel.dynamicSharedBytes),
                                            options.stream, params[i].pointers(), nullptr);
    auto what = [&] {
      return "launching kernel '" + kernel.name + "' (" + std::to_string(grid) + " blocks of " +
             std::to_string(kernel.threads) + " threads, " +
             std::to_string(kernel.dynamicSharedBytes) + " bytes of dynamic shared memory)";
    };
    if (Status status = context.driver().check(result, what); !status)
      return status;
  }
  return {};
}

} // namespace attn::rt
