/*===- attention.c - The C interface, from C ------------------------------===*\
|*                                                                            *|
|* Part of attn, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "attn-c/Attn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatch = 2, kSeq = 37, kHeads = 3, kDim = 16, kCount = kBatch * kSeq * kHeads * kDim };

static float q[kCount], k[kCount], v[kCount], o[kCount], lse[kBatch * kHeads * kSeq];

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\nlast error: %s\n", __FILE__, __LINE__, #condition,               \
              attnLastError());                                                                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static AttnTensor tensorOf(float *data) {
  AttnTensor tensor = {data,
                       ATTN_F32,
                       4,
                       {kBatch, kSeq, kHeads, kDim},
                       {kSeq * kHeads * kDim, kHeads * kDim, kDim, 1}};
  return tensor;
}

static int at(int b, int i, int h) { return ((b * kSeq + i) * kHeads + h) * kDim; }

/* The largest difference of o and lse from causal attention in double. */
static double worstError(double scale) {
  double worst = 0;
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int i = 0; i < kSeq; ++i) {
        double sum = 0, row[kDim] = {0};
        for (int j = 0; j <= i; ++j) {
          double score = 0;
          for (int d = 0; d < kDim; ++d)
            score += (double)q[at(b, i, h) + d] * k[at(b, j, h) + d];
          double weight = exp(scale * score);
          sum += weight;
          for (int d = 0; d < kDim; ++d)
            row[d] += weight * v[at(b, j, h) + d];
        }
        for (int d = 0; d < kDim; ++d)
          worst = fmax(worst, fabs(row[d] / sum - o[at(b, i, h) + d]));
        worst = fmax(worst, fabs(log(sum) - lse[(b * kHeads + h) * kSeq + i]));
      }
  return worst;
}

static void testCalls(AttnJit *jit) {
  AttnAttentionOptions options = {ATTN_MASK_CAUSAL, 0, 0, 0};
  AttnAttention *attention = NULL;
  CHECK(attnAttentionCreate(jit, &options, &attention) == ATTN_OK);
  AttnTensor lseTensor = {lse, ATTN_F32, 3, {kBatch, kHeads, kSeq}, {kHeads * kSeq, kSeq, 1}};
  AttnCall call = {.q = tensorOf(q),
                   .k = tensorOf(k),
                   .v = tensorOf(v),
                   .o = tensorOf(o),
                   .lse = &lseTensor,
                   .device = -1};
  CHECK(attnRun(attention, &call) == ATTN_OK);
  CHECK(worstError(0.25) < 1e-5);
  double scale = 0.5;
  call.scale = &scale;
  CHECK(attnRun(attention, &call) == ATTN_OK);
  CHECK(worstError(0.5) < 1e-5);

  size_t bytes = 1;
  CHECK(attnWorkspaceBytes(attention, &call, &bytes) == ATTN_OK && bytes == 0);
  char *spec = NULL;
  CHECK(attnSpecOf(attention, &call, &spec) == ATTN_OK);
  CHECK(strstr(spec, "head_dim=16") && strstr(spec, "mask=causal"));
  attnFreeText(spec);

  call.k.sizes[2] = 2;
  CHECK(attnRun(attention, &call) == ATTN_BAD_INPUT);
  CHECK(strcmp(attnLastError(), "v: expected heads 2 as k has, got 3") == 0);
  call.q.rank = 77;
  CHECK(attnRun(attention, &call) == ATTN_BAD_INPUT);
  CHECK(strstr(attnLastError(), "q: expected a rank of at most 4"));
  attnAttentionDestroy(attention);
}

static void testSpecs(AttnJit *jit) {
  char *text = NULL, *json = NULL, *ptx = NULL, *manifest = NULL;
  const char *spec = "dtype=f16 head_dim=64 heads_q=4 mask=causal";
  CHECK(attnSpecCanonicalize(spec, &text) == ATTN_OK);
  CHECK(strstr(text, "heads_kv=4 mask=causal"));
  attnFreeText(text);
  CHECK(attnSpecCanonicalize("head_dim=63 heads_q=1", &text) == ATTN_BAD_INPUT);
  CHECK(strstr(attnLastError(), "multiple of 8"));
  CHECK(attnSpecCanonicalize("nonsense", &text) == ATTN_BAD_INPUT);

  CHECK(attnCompile(jit, spec, "sm_80", &ptx, &manifest) == ATTN_OK);
  CHECK(strstr(ptx, ".target sm_80") && strstr(manifest, "\"sm_80\""));
  attnFreeText(ptx);
  attnFreeText(manifest);
  CHECK(attnCompile(jit, spec, "cpu", &ptx, &manifest) == ATTN_OK && !ptx && !manifest);
  CHECK(attnCompile(jit, spec, "sm_1", &ptx, &manifest) == ATTN_BAD_INPUT);

  CHECK(attnExplain("head_dim=64 heads_q=4 seq_q=100", "sm_80", &text, &json) == ATTN_OK);
  CHECK(strstr(text, "schedule") && json[0] == '{');
  attnFreeText(text);
  attnFreeText(json);
}

static void testForbid(void) {
  AttnJit *jit = NULL;
  AttnAttention *attention = NULL;
  AttnAttentionOptions options = {ATTN_MASK_WINDOW, 7, -1, 30.0};
  CHECK(attnJitCreate((AttnJitMode)9, "", &jit) == ATTN_BAD_INPUT);
  CHECK(attnJitCreate(ATTN_JIT_FORBID, "", &jit) == ATTN_OK);
  CHECK(attnAttentionCreate(jit, &options, &attention) == ATTN_OK);
  AttnCall call = {
      .q = tensorOf(q), .k = tensorOf(k), .v = tensorOf(v), .o = tensorOf(o), .device = -1};
  CHECK(attnRun(attention, &call) == ATTN_NOT_FOUND);
  CHECK(strstr(attnLastError(), "window_left=7"));
  attnJitSetMode(jit, ATTN_JIT_BACKGROUND);
  CHECK(attnJitGetMode(jit) == ATTN_JIT_BACKGROUND);
  CHECK(attnRun(attention, &call) == ATTN_OK);
  attnJitWait(jit);
  attnJitSetMode(jit, ATTN_JIT_FORBID);
  CHECK(attnRun(attention, &call) == ATTN_OK);
  attnAttentionDestroy(attention);
  attnJitDestroy(jit);
}

static int numLines = 0;
static void countLine(const char *line, void *user) {
  CHECK(line[0] != '\0' && user == &numLines);
  ++numLines;
}

static void testMetrics(void) {
  AttnJit *jit = NULL;
  char *text = NULL;
  CHECK(attnJitCreate(ATTN_JIT_SYNCHRONOUS, "", &jit) == ATTN_OK);
  attnJitSetLog(jit, countLine, &numLines);
  CHECK(attnCompile(jit, "dtype=f32 head_dim=8 heads_q=1", "cpu", &text, &text) == ATTN_OK);
  CHECK(numLines == 1);
  CHECK(attnJitMetrics(jit, ATTN_METRICS_JSON, &text) == ATTN_OK);
  CHECK(strstr(text, "\"compile\":{\"count\":1"));
  attnFreeText(text);
  CHECK(attnJitMetrics(jit, ATTN_METRICS_PROMETHEUS, &text) == ATTN_OK);
  CHECK(strstr(text, "\nattn_compiles_total 1\n"));
  attnFreeText(text);
  CHECK(attnJitMetrics(jit, (AttnMetricsFormat)7, &text) == ATTN_BAD_INPUT);
  CHECK(attnJitAddBundle(jit, "/nowhere/kernels.attnb") == ATTN_BAD_INPUT);
  CHECK(strstr(attnLastError(), "no bundle"));
  CHECK(attnJitRecord(jit, "/nowhere/asked.jsonl") == ATTN_UNAVAILABLE);
  attnJitDestroy(jit);
}

int main(void) {
  for (int i = 0; i < kCount; ++i) {
    q[i] = sinf((float)(i * 7));
    k[i] = sinf((float)(i * 8));
    v[i] = sinf((float)(i * 9));
  }
  AttnJit *jit = NULL;
  CHECK(attnVersion()[0] != '\0');
  CHECK(attnJitCreate(ATTN_JIT_SYNCHRONOUS, "", &jit) == ATTN_OK);
  testCalls(jit);
  testSpecs(jit);
  attnJitDestroy(jit);
  testForbid();
  testMetrics();
  return 0;
}
