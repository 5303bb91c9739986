//===- Arguments.h - Checking and packing a call's arguments --------------===//

#ifndef ATTN_RUNTIME_ARGUMENTS_H
#define ATTN_RUNTIME_ARGUMENTS_H

#include <cstdint>
#include <span>
#include <vector>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/Error.h"
#include "attn/Runtime/TensorArg.h"
#include "attn/Runtime/TensorMap.h"

namespace attn::rt {

/// Checks a call against the manifest: number and kind of arguments; for tensors
/// the element type, rank, static sizes, contiguous last dimension, alignment of
/// address and strides, and equal sizes across arguments. The stride of a
/// dimension with fewer than two elements is free, and so are the address and
/// strides of an empty tensor. BadInput names the argument, what was expected
/// and what came.
Status checkArguments(const Manifest &manifest, std::span<const Argument> arguments);

/// The parameters of one kernel: values in 8-byte slots, 4-byte scalars in the
/// low half of theirs.
class KernelParams {
public:
  /// Appends the parameters of one argument (see Artifact.h for the order).
  void add(const Argument &argument);
  void add(const TensorArg &tensor);
  void add(const ScalarArg &scalar);
  /// Appends a tensor map, which must outlive the launch; maps come after everything else.
  void add(const TensorMap &map) { maps.push_back(&map); }

  std::span<const uint64_t> slots() const { return values; }

  /// Pointers to the slots and maps, as cuLaunchKernel wants them. Valid until the next
  /// add or the end of this object.
  void **pointers();

private:
  std::vector<uint64_t> values;
  std::vector<const TensorMap *> maps;
  std::vector<void *> addresses;
};

/// Blocks of each kernel for a call whose arguments have been checked. BadInput for more than a
/// launch takes.
Expected<std::vector<int64_t>> evaluateGrids(const Manifest &manifest,
                                             std::span<const Argument> arguments);

/// Bytes and placement of a call's workspaces inside one allocation.
struct WorkspaceLayout {
  int64_t bytes = 0;
  /// Per workspace: its shape and the byte offset of its first element in `data`.
  struct Slot {
    int64_t offset = 0;
    std::vector<int64_t> shape;
    ElementType elementType = ElementType::F32;
  };
  std::vector<Slot> slots;
};

/// Alignment of every workspace tensor, in bytes.
inline constexpr int64_t kWorkspaceAlignment = 256;

/// Evaluates the workspaces of a call whose arguments have been checked.
Expected<WorkspaceLayout> layoutWorkspaces(const Manifest &manifest,
                                           std::span<const Argument> arguments);

} // namespace attn::rt

#endif // ATTN_RUNTIME_ARGUMENTS_H
