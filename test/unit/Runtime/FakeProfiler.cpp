//===- FakeProfiler.cpp - A profiler that writes down ranges --------------===//
//
// NVTX loads the library that NVTX_INJECTION64_PATH names and hands it the tables of its functions.
// This one puts its own into them, which append a line for each call to the file that
// ATTN_TEST_RANGES names.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#include <string>

static char domainHandle;

static void write(const std::string &line) {
  if (FILE *file = std::fopen(std::getenv("ATTN_TEST_RANGES"), "a")) {
    std::fputs((line + "\n").c_str(), file);
    std::fclose(file);
  }
}

static nvtxDomainHandle_t createDomain(const char *name) {
  write(std::string("domain ") + name);
  return reinterpret_cast<nvtxDomainHandle_t>(&domainHandle);
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes) {
  bool isOurs = domain == reinterpret_cast<nvtxDomainHandle_t>(&domainHandle);
  write((isOurs ? "push " : "push elsewhere ") + std::string(attributes->message.ascii));
  return 0;
}

static int pop(nvtxDomainHandle_t) {
  write("pop");
  return 0;
}

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  const auto *callbacks =
      static_cast<const NvtxExportTableCallbacks *>(getExportTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  auto set = [&](unsigned id, auto *function) {
    if (id < size)
      *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, createDomain);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
