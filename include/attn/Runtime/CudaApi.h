//===- CudaApi.h - The part of the CUDA driver interface we use -----------===//
//
// Declared here so that no CUDA toolkit is needed to build. The handle types
// are the ones cuda.h names, so that a host program may include both.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDAAPI_H
#define ATTN_RUNTIME_CUDAAPI_H

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace attn::rt::cuda {

using Result = int;
using Device = int;
using DevicePtr = unsigned long long;
using Context = ::CUctx_st *;
using Module = ::CUmod_st *;
using Function = ::CUfunc_st *;
using Stream = ::CUstream_st *;
using Event = ::CUevent_st *;

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidImage = 200;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kUnsupportedPtxVersion = 222;
inline constexpr Result kNotFound = 500;

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kFuncMaxThreadsPerBlock = 0,
  kFuncSharedSizeBytes = 1,
  kFuncLocalSizeBytes = 3,
  kFuncNumRegs = 4,
  kFuncMaxDynamicSharedSizeBytes = 8,
};

enum PointerAttribute : int { kPointerDeviceOrdinal = 9 };

enum JitOption : int {
  kJitInfoLogBuffer = 3,
  kJitInfoLogBufferSizeBytes = 4,
  kJitErrorLogBuffer = 5,
  kJitErrorLogBufferSizeBytes = 6,
  kJitLogVerbose = 12,
};

// CUtensorMap*.
enum TensorMapType : int { kMapFloat16 = 6, kMapBFloat16 = 9 };
enum TensorMapInterleave : int { kMapInterleaveNone = 0 };
enum TensorMapSwizzle : int { kMapSwizzle128B = 3 };
enum TensorMapPromotion : int { kMapPromotionL2_256B = 3 };
enum TensorMapFill : int { kMapFillZeros = 0 };

inline constexpr unsigned kStreamNonBlocking = 1;

/// cuStreamIsCapturing's answer for a stream that is not being captured.
inline constexpr int kCaptureNone = 0;

/// The functions, by the names that libcuda.so.1 exports them under. One list
/// makes the table below, and the loader that fills it.
#define ATTN_CUDA_FUNCTIONS(X)                                                                     \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorName, "cuGetErrorName", (Result result, const char **name))                            \
  X(getErrorString, "cuGetErrorString", (Result result, const char **text))                        \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (Device * device, int ordinal))                                      \
  X(deviceGetName, "cuDeviceGetName", (char *name, int length, Device device))                     \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, Device device))        \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *bytes, Device device))                         \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context * context, Device device))              \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (Device device))                            \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (Context context))                                      \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (Context * context))                                      \
  X(ctxSynchronize, "cuCtxSynchronize", ())                                                        \
  X(memAlloc, "cuMemAlloc_v2", (DevicePtr * pointer, size_t bytes))                                \
  X(memFree, "cuMemFree_v2", (DevicePtr pointer))                                                  \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (DevicePtr to, const void *from, size_t bytes))                 \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *to, DevicePtr from, size_t bytes))                       \
  X(memsetD8Async, "cuMemsetD8Async",                                                              \
    (DevicePtr to, unsigned char value, size_t bytes, Stream stream))                              \
  X(memGetInfo, "cuMemGetInfo_v2", (size_t *freeBytes, size_t *totalBytes))                        \
  X(pointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, DevicePtr pointer)) \
  X(streamCreate, "cuStreamCreate", (Stream * stream, unsigned flags))                             \
  X(streamDestroy, "cuStreamDestroy_v2", (Stream stream))                                          \
  X(streamIsCapturing, "cuStreamIsCapturing", (Stream stream, int *status))                        \
  X(streamSynchronize, "cuStreamSynchronize", (Stream stream))                                     \
  X(eventCreate, "cuEventCreate", (Event * event, unsigned flags))                                 \
  X(eventDestroy, "cuEventDestroy_v2", (Event event))                                              \
  X(eventRecord, "cuEventRecord", (Event event, Stream stream))                                    \
  X(eventSynchronize, "cuEventSynchronize", (Event event))                                         \
  X(eventElapsedTime, "cuEventElapsedTime", (float *milliseconds, Event start, Event stop))        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (Module * module, const void *image, unsigned count, int *options, void **values))             \
  X(moduleUnload, "cuModuleUnload", (Module module))                                               \
  X(moduleGetFunction, "cuModuleGetFunction",                                                      \
    (Function * function, Module module, const char *name))                                        \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, Function function))        \
  X(funcSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))         \
  X(launchKernel, "cuLaunchKernel",                                                                \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **params,         \
     void **extra))

/// Functions that older drivers lack; null where they do.
#define ATTN_CUDA_OPTIONAL_FUNCTIONS(X)                                                            \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (void *map, TensorMapType elementType, uint32_t rank, void *address, const uint64_t *sizes,    \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps,                          \
     TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion,       \
     TensorMapFill fill))

/// The driver's entry points. A test may fill the table itself.
struct CudaApi {
#define ATTN_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_MEMBER)
  ATTN_CUDA_OPTIONAL_FUNCTIONS(ATTN_CUDA_MEMBER)
#undef ATTN_CUDA_MEMBER
};

} // namespace attn::rt::cuda

#endif // ATTN_RUNTIME_CUDAAPI_H
