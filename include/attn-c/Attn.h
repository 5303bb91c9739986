/*===- attn-c/Attn.h - Attention from C ---------------------------*- C -*-===*\
|*                                                                            *|
|* Part of attn, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Compiles attention kernels when tensors come that need them, and runs      *|
|* them, on the CPU and on CUDA devices. Functions that can fail return an    *|
|* AttnStatus and leave a message for attnLastError(); none of them throws or *|
|* aborts on bad input. Objects may be used from any thread.                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_ATTN_H
#define ATTN_C_ATTN_H

#include <stddef.h>
#include <stdint.h>

#define ATTN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AttnStatus {
  ATTN_OK,
  ATTN_BAD_INPUT,   /* A value is outside of its limits. */
  ATTN_INTERNAL,    /* A fault of attn. */
  ATTN_UNAVAILABLE, /* A driver, device, memory or directory is missing. */
  ATTN_NOT_FOUND,   /* A kernel that must not be compiled is not in the cache. */
  ATTN_STALE,       /* A file of another version. */
  ATTN_CORRUPT,     /* A file that fails its checks. */
  ATTN_BUSY         /* Not now: a CUDA graph is captured. */
} AttnStatus;

/* What was wrong in the last call of this thread that failed; valid until its next call. */
ATTN_API const char *attnLastError(void);

/* Version and build of the compiler; a part of every cache key. */
ATTN_API const char *attnVersion(void);

/* Frees text that a function has returned through a char **. */
ATTN_API void attnFreeText(char *text);

/*===----------------------------------------------------------------------===*\
|* Kernels                                                                    *|
\*===----------------------------------------------------------------------===*/

/* Kernels by spec and device, compiled when they are needed. */
typedef struct AttnJit AttnJit;

typedef enum AttnJitMode {
  ATTN_JIT_SYNCHRONOUS, /* A missing kernel is compiled while its caller waits. */
  ATTN_JIT_BACKGROUND,  /* It is compiled on a thread; a slower path answers, if one is ready. */
  ATTN_JIT_FORBID       /* It is an error that says how to compile it beforehand. */
} AttnJitMode;

/* `cacheDir` keeps kernels between processes: NULL is the default directory, "" none. */
ATTN_API AttnStatus attnJitCreate(AttnJitMode mode, const char *cacheDir, AttnJit **jit);
/* Waits for compiles in the background. Nothing made from it may be in use. */
ATTN_API void attnJitDestroy(AttnJit *jit);
ATTN_API void attnJitSetMode(AttnJit *jit, AttnJitMode mode);
ATTN_API AttnJitMode attnJitGetMode(const AttnJit *jit);
/* Waits for the compiles that are in the background now. */
ATTN_API void attnJitWait(AttnJit *jit);

/* Reads kernels from a file that `attnc prewarm --bundle` wrote, after the cache directory. */
ATTN_API AttnStatus attnJitAddBundle(AttnJit *jit, const char *path);
/* From now on appends what is asked for to a file (.jsonl) that `attnc prewarm` takes. */
ATTN_API AttnStatus attnJitRecord(AttnJit *jit, const char *path);

typedef enum AttnMetricsFormat { ATTN_METRICS_JSON, ATTN_METRICS_PROMETHEUS } AttnMetricsFormat;

/* Counters since `jit` was made: hits and misses of the caches and their bytes, compiles and their
   time, kernels on the fast path, and kernels that were not by reason. */
ATTN_API AttnStatus attnJitMetrics(AttnJit *jit, AttnMetricsFormat format, char **text);

/* Told about each compile, hit on disk and fallback: one line, valid during the call, which may
   come from any thread. */
typedef void (*AttnLog)(const char *line, void *user);
/* NULL for no log. Set it before kernels are asked for. */
ATTN_API void attnJitSetLog(AttnJit *jit, AttnLog log, void *user);

/*===----------------------------------------------------------------------===*\
|* Specs: "dtype=bf16 head_dim=128 heads_q=32 mask=causal"                    *|
\*===----------------------------------------------------------------------===*/

/* The spec with its defaults, in canonical order. */
ATTN_API AttnStatus attnSpecCanonicalize(const char *spec, char **canonical);

/* Compiles a spec for a target ("cpu", "sm_80", ...), whatever the mode. For a GPU the PTX and its
   manifest (JSON) are returned and cached, and no device is needed; for the CPU both are NULL. */
ATTN_API AttnStatus attnCompile(AttnJit *jit, const char *spec, const char *target, char **ptx,
                                char **manifest);

/* Which schedule a target takes and why, for people and as JSON. The spec may have batch, seq_q and
   seq_kv, for the numbers that depend on them. */
ATTN_API AttnStatus attnExplain(const char *spec, const char *target, char **text, char **json);

/*===----------------------------------------------------------------------===*\
|* Calls                                                                      *|
\*===----------------------------------------------------------------------===*/

typedef enum AttnType { ATTN_F32, ATTN_BF16, ATTN_F16 } AttnType;

/* Memory of the caller; strides in elements, the last one 1. */
typedef struct AttnTensor {
  void *data; /* Address of element (0, ..., 0). */
  AttnType type;
  int32_t rank; /* At most 4. */
  int64_t sizes[4];
  int64_t strides[4];
} AttnTensor;

typedef enum AttnMask {
  ATTN_MASK_NONE,
  ATTN_MASK_CAUSAL,          /* The last query sees all keys. */
  ATTN_MASK_CAUSAL_TOP_LEFT, /* The first query sees the first key alone. */
  ATTN_MASK_WINDOW,          /* Keys around the diagonal of CAUSAL. */
  ATTN_MASK_WINDOW_TOP_LEFT  /* Keys around the diagonal of CAUSAL_TOP_LEFT. */
} AttnMask;

/* Which attention, whatever the tensors. All zero is full attention. */
typedef struct AttnAttentionOptions {
  AttnMask mask;
  int64_t windowLeft;  /* Of window masks: keys left of the diagonal key, -1 for all. */
  int64_t windowRight; /* Keys right of it. */
  double softcap;      /* Bounds scores: cap * tanh(score / cap); 0 for none. */
} AttnAttentionOptions;

typedef struct AttnAttention AttnAttention;

/* `jit` outlives the object. */
ATTN_API AttnStatus attnAttentionCreate(AttnJit *jit, const AttnAttentionOptions *options,
                                        AttnAttention **attention);
ATTN_API void attnAttentionDestroy(AttnAttention *attention);

/* Tensors of one call, all on one device. */
typedef struct AttnCall {
  AttnTensor q;             /* [batch, seq_q, heads_q, head_dim] */
  AttnTensor k;             /* [batch, seq_kv, heads_kv, head_dim], of q's type */
  AttnTensor v;             /* [batch, seq_kv, heads_kv, head_dim_v], of q's type */
  AttnTensor o;             /* Result: [batch, seq_q, heads_q, head_dim_v], of q's type or f32 */
  const AttnTensor *lse;    /* NULL, or a result: [batch, heads_q, seq_q], f32 */
  const AttnTensor *slopes; /* NULL, or the slopes of ALiBi: [heads_q], f32, dense */
  const double *scale;      /* NULL for 1 / sqrt(head_dim) */
  int32_t device;           /* -1 for the CPU, or a CUDA device's number */
  void *stream;             /* CUstream of the device; NULL for the default stream */
  uint32_t threads;         /* Of the CPU; 0 for one for each processor */
  int checkPointers;        /* Whether to ask the CUDA driver if the tensors lie on the device. */
  void *scratch;            /* NULL, or device memory of at least attnWorkspaceBytes(), aligned */
  size_t scratchBytes;      /* to 256 bytes, free again when the stream has passed the call. */
} AttnCall;

/* Computes o and lse. On the CPU they are there on return; on a device the work is submitted. A
   CUDA graph can capture the call, if the same has been made before; it must not run twice at the
   same time, which would share memory, nor after its attnJit is gone. A stream must not be
   destroyed before its work is done. */
ATTN_API AttnStatus attnRun(const AttnAttention *attention, const AttnCall *call);

/* Bytes of scratch memory that a call takes on its device; compiles its kernel at need. */
ATTN_API AttnStatus attnWorkspaceBytes(const AttnAttention *attention, const AttnCall *call,
                                       size_t *bytes);

/* The canonical spec of the kernel that a call takes. */
ATTN_API AttnStatus attnSpecOf(const AttnAttention *attention, const AttnCall *call, char **spec);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_C_ATTN_H */
