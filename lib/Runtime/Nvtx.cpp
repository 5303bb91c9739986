//===- Nvtx.cpp - Ranges that profilers show ------------------------------===//

#include "attn/Runtime/Nvtx.h"

#ifdef ATTN_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace attn::rt {

#ifdef ATTN_HAS_NVTX

/// Null without a profiler: NVTX looks for one at its first call, and never again.
static nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("attn");
  return handle;
}

NvtxRange::NvtxRange(const std::string &name) {
  if (!domain())
    return;
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() {
  if (domain())
    nvtxDomainRangePop(domain());
}

bool hasNvtx() { return true; }

#else

NvtxRange::NvtxRange(const std::string &) {}
NvtxRange::~NvtxRange() = default;
bool hasNvtx() { return false; }

#endif

} // namespace attn::rt
