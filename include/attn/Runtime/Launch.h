//===- Launch.h - Calling a loaded artifact -------------------------------===//

#ifndef ATTN_RUNTIME_LAUNCH_H
#define ATTN_RUNTIME_LAUNCH_H

#include <memory>
#include <optional>
#include <span>

#include "attn/Runtime/Arguments.h"
#include "attn/Runtime/CudaContext.h"
#include "attn/Runtime/Error.h"
#include "attn/Runtime/Module.h"
#include "attn/Runtime/TileCounters.h"

namespace attn::rt {

/// Scratch memory for calls, kept between them and grown when a call needs more.
/// One object serves one stream at a time: calls that may overlap need one each. The memory is
/// also that of the CUDA graphs that have captured calls with it: a graph must not run longer than
/// the object lives, at the same time as another call or graph that uses its scratch memory, or
/// twice at the same time (two executable graphs made from one).
class Workspace {
public:
  explicit Workspace(CudaContextPtr context)
      : Workspace(context, std::make_shared<TileCounters>(context)) {}
  /// With tile counters that workspaces of one device share. Once a call on any of their streams
  /// has allocated them, all streams can be captured.
  Workspace(CudaContextPtr context, std::shared_ptr<TileCounters> counters)
      : context(std::move(context)), counters(std::move(counters)) {}

  /// Makes at least `bytes` available. Growing frees the old memory, which waits
  /// for the kernels that use it; call this before capturing a graph.
  Status reserve(size_t bytes);
  size_t capacity() const { return buffer.size(); }
  void *data() const { return buffer.data(); }
  const CudaContext &owner() const { return *context; }
  TensorMapCache &tensorMaps() { return maps; }
  /// The tile counter of a kernel that will be launched on `stream`: the same for all that run
  /// there, which follow each other, and one of its own for each that is captured into a graph.
  Expected<TensorArg> tileCounter(cuda::Stream stream);

private:
  CudaContextPtr context;
  std::shared_ptr<TileCounters> counters;
  std::optional<TensorArg> ownCounter;
  DeviceBuffer buffer;
  TensorMapCache maps;
};

struct LaunchOptions {
  cuda::Stream stream = nullptr;
  /// Ask the driver whether every tensor lies on the module's device, and refuse
  /// with a message that names it otherwise. Turn off for memory that the device
  /// reaches another way (peers, host memory mapped by the system).
  bool checkPointers = true;
  /// Device memory of the caller, aligned to kWorkspaceAlignment, to use in place of the
  /// workspace's own; free to be used again by later work on the stream.
  void *scratch = nullptr;
  size_t scratchBytes = 0;
};

/// Checks `arguments` against the manifest, evaluates grids and workspaces and
/// launches the kernels in order. Returns when all are submitted; an empty grid
/// launches nothing and is no error. Nothing is launched unless every check
/// passes. `workspace` belongs to the module's device; it grows when it must, which is an error
/// of code Busy on a stream that is being captured into a graph. So are captured kernels with a
/// tile counter beyond the TileCounters::kCapacity that there are.
Status launch(const Module &module, std::span<const Argument> arguments, Workspace &workspace,
              const LaunchOptions &options = {});

} // namespace attn::rt

#endif // ATTN_RUNTIME_LAUNCH_H
