//===- Nvtx.h - Ranges that profilers show ----------------------*- C++ -*-===//

#ifndef ATTN_RUNTIME_NVTX_H
#define ATTN_RUNTIME_NVTX_H

#include <string>

namespace attn::rt {

/// A range of this thread in the NVTX domain "attn", as long as the object lives. Without a
/// profiler, and in a build that found no headers of NVTX, it does nothing.
class NvtxRange {
public:
  explicit NvtxRange(const std::string &name);
  ~NvtxRange();
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;
};

/// Whether this build has ranges.
bool hasNvtx();

} // namespace attn::rt

#endif // ATTN_RUNTIME_NVTX_H
