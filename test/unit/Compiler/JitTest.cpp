//===- JitTest.cpp - Kernels compiled when they are needed ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Runtime/FakeCuda.h"
#include "attn/Compiler/Attention.h"
#include "attn/Compiler/Reference.h"
#include "attn/Runtime/Hash.h"

#include <cmath>
#include <gmock/gmock.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attn;
using rt::ElementType;
using rt::TensorArg;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// Tensors of one call in host memory, with room for the result.
struct Call {
  explicit Call(int64_t seq = 33, int64_t heads = 4, int64_t dim = 16)
      : shape{2, seq, heads, dim}, lse(static_cast<size_t>(2 * heads * seq)) {
    for (int t = 0; t < 4; ++t)
      for (int64_t i = 0; i < 2 * seq * heads * dim; ++i)
        data[t].push_back(std::sin(static_cast<float>(i * (t + 7))));
  }
  TensorArg tensor(int t) { return TensorArg::dense(data[t].data(), ElementType::F32, shape); }
  AttentionTensors tensors(Device device = Device::cpu()) {
    AttentionTensors result{tensor(0), tensor(1), tensor(2), tensor(3), {}, {}, device};
    result.lse = TensorArg::dense(lse.data(), ElementType::F32, {2, shape[2], shape[1]});
    return result;
  }
  /// The largest difference of o from float64.
  double error(const KernelSpec &spec) {
    std::vector<int64_t> rows(static_cast<size_t>(shape[1]));
    std::iota(rows.begin(), rows.end(), 0);
    auto exact = computeReference(spec, {2, shape[1], shape[1], 1 / std::sqrt(double(shape[3]))},
                                  {tensor(0), tensor(1), tensor(2)}, rows, 0);
    double worst = 0;
    for (size_t i = 0; i < exact.o.size(); ++i)
      worst = std::fmax(worst, std::fabs(data[3][i] - exact.o[i]));
    for (size_t i = 0; i < exact.lse.size(); ++i)
      worst = std::fmax(worst, std::fabs(lse[i] - exact.lse[i]));
    return worst;
  }

  std::vector<int64_t> shape;
  std::vector<float> data[4], lse;
};

KernelSpec causal() {
  KernelSpec spec;
  spec.mask = MaskKind::Causal;
  return spec;
}

uint64_t contexts(Jit &jit) { return jit.metrics().counter(kContextsMetric).value(); }

/// Whether this is the kernel that was compiled, rather than what answers meanwhile.
bool isCompiled(Jit &jit, const JitKernel *kernel) {
  return kernel == jit.find(kernel->spec(), kernel->device());
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

TEST(Jit, CompilesOnceAndRuns) {
  Jit jit;
  Attention attention(jit, causal());
  Call call;
  auto spec = canonicalize(*attention.specOf(call.tensors()));
  for (int i = 0; i < 2; ++i) {
    auto status = attention(call.tensors());
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_LT(call.error(*spec), 1e-5);
    EXPECT_EQ(contexts(jit), 1u);
  }
  // Another length is the same kernel, one query another.
  EXPECT_TRUE(attention(Call(70).tensors()));
  EXPECT_EQ(contexts(jit), 1u);
  Call decode(1);
  EXPECT_TRUE(attention(decode.tensors()));
  EXPECT_EQ(contexts(jit), 2u);
}

TEST(Jit, DerivesTheSpecFromTensors) {
  Jit jit;
  Attention attention(jit, causal());
  Call call;
  AttentionTensors tensors = call.tensors();
  EXPECT_EQ(toText(*canonicalize(*attention.specOf(tensors))),
            "phase=prefill dtype=f32 out=f32 head_dim=16 head_dim_v=16 heads_q=4 heads_kv=4 "
            "mask=causal alibi=false lse=true kv=dense alignment=16 max_seq_len=128");
  tensors.lse.reset();
  tensors.k.data = call.data[1].data() + 1;
  auto spec = attention.specOf(tensors);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->alignment, 4);
  EXPECT_FALSE(spec->lse);
  // The stride of a dim with one element says nothing.
  tensors = call.tensors();
  tensors.q.sizes[0] = tensors.k.sizes[0] = tensors.v.sizes[0] = tensors.o.sizes[0] = 1;
  tensors.q.strides[0] = 1;
  EXPECT_EQ(attention.specOf(tensors)->alignment, 16);
}

TEST(Jit, RefusesTensorsThatDoNotFit) {
  Jit jit;
  Attention attention(jit);
  Call call;
  auto message = [&](auto &&change) {
    AttentionTensors tensors = call.tensors();
    change(tensors);
    auto status = attention(tensors);
    EXPECT_FALSE(status);
    return status ? "" : status.error().message;
  };
  using T = AttentionTensors &;
  EXPECT_EQ(message([](T t) { t.q.rank = 3; }),
            "q: expected 4 dimensions [batch, seq, heads, head_dim], got 3, shape [2, 33, 4]");
  EXPECT_EQ(message([](T t) { t.v.sizes[2] = 2; }), "v: expected heads 4 as k has, got 2");
  EXPECT_EQ(message([](T t) { t.k.elementType = ElementType::F16; }),
            "k: expected element type f32 as q has, got f16");
  EXPECT_EQ(message([](T t) { t.k.sizes[2] = t.v.sizes[2] = 3; }),
            "heads_q=4 heads_kv=3: expected heads_q to be a multiple of heads_kv");
  EXPECT_EQ(message([](T t) { t.o.data = t.v.data; }),
            "o: expected memory of its own, got that of v");
  EXPECT_EQ(message([](T t) { t.o.strides[1] = 0; }),
            "o: expected an element of its own at each index, got stride 0 in dimension 1, shape "
            "[2, 33, 4, 16]");
  EXPECT_THAT(message([](T t) { t.q.strides[3] = 2; }), HasSubstr("contiguous last dimension"));
  EXPECT_THAT(message([](T t) { t.lse->sizes[2] = 5; }), HasSubstr("argument 'lse'"));
  EXPECT_THAT(message([](T t) {
                t.q.data = static_cast<char *>(t.q.data) + 1;
                t.q.sizes[1] = t.o.sizes[1] = 2;
              }),
              HasSubstr("argument 'q': expected an address aligned to 4 bytes"));
  AttentionTensors tensors = call.tensors();
  EXPECT_EQ(attention(tensors, -1.0).error().message,
            "scale=-1: expected a finite f32 number of at least 0");
}

TEST(Jit, StridesOfEmptyTensorsAreFree) {
  Jit jit;
  Attention attention(jit);
  Call call;
  AttentionTensors tensors = call.tensors();
  for (TensorArg *tensor : {&tensors.k, &tensors.v}) {
    tensor->sizes[1] = 0;
    tensor->strides = {};
  }
  auto status = attention(tensors);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(call.data[3], std::vector<float>(call.data[3].size(), 0));
}

TEST(Jit, ThreadsShareOneCompile) {
  Jit jit;
  std::vector<std::thread> threads;
  std::vector<JitKernelPtr> kernels(8);
  Call call;
  Attention attention(jit);
  AttentionTensors tensors = call.tensors();
  for (JitKernelPtr &kernel : kernels)
    threads.emplace_back([&] { kernel = *attention.kernel(tensors); });
  for (std::thread &thread : threads)
    thread.join();
  for (const JitKernelPtr &kernel : kernels)
    EXPECT_EQ(kernel, kernels[0]);
  EXPECT_EQ(contexts(jit), 1u);
}

TEST(Jit, BackgroundAnswersMeanwhile) {
  JitOptions options;
  options.mode = JitMode::Background;
  Jit jit(options);
  Attention attention(jit, causal());
  Call call;
  auto first = attention.kernel(call.tensors());
  ASSERT_TRUE(first);
  ASSERT_TRUE(attention(call.tensors()));
  EXPECT_LT(call.error((*first)->spec()), 1e-5);
  jit.wait();
  auto second = attention.kernel(call.tensors());
  ASSERT_TRUE(second);
  EXPECT_FALSE(isCompiled(jit, first->get()));
  EXPECT_TRUE(isCompiled(jit, second->get()));

  // A kernel for less alignment does, until there is a better one.
  AttentionTensors tensors = call.tensors();
  KernelSpec loose = *attention.specOf(tensors);
  loose.headsKV = 2;
  loose.alignment = 4;
  auto ready = jit.get(loose, Device::cpu(), JitMode::Synchronous);
  loose.alignment = 16;
  auto meanwhile = jit.get(loose, Device::cpu());
  ASSERT_TRUE(ready && meanwhile);
  EXPECT_EQ(*ready, *meanwhile);
  jit.wait();
  EXPECT_NE(*jit.get(loose, Device::cpu()), *ready);
}

TEST(Jit, BackgroundReportsWhatFailed) {
  JitOptions options;
  options.mode = JitMode::Background;
  Jit jit(options);
  KernelSpec spec = causal();
  spec.headDim = spec.headDimV = 16;
  spec.headsQ = 4;
  spec.dtype = ElementType::F32;
  spec.pins.warps = 8; // Of GPUs alone, which is found when the schedule is chosen.
  for (int round = 0; round < 2; ++round) {
    auto standIn = jit.get(spec, Device::cpu());
    ASSERT_TRUE(standIn) << standIn.error().message;
    EXPECT_FALSE(isCompiled(jit, standIn->get()));
    jit.wait();
    // Whoever asks next hears of it, once: then it is tried again.
    auto failed = jit.get(spec, Device::cpu());
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message, HasSubstr("warps: 8 is a choice of GPU kernels alone"));
  }
}

TEST(Jit, ForbidNamesWhatIsMissing) {
  JitOptions options;
  options.mode = JitMode::Forbid;
  Jit jit(options);
  Attention attention(jit);
  Call call;
  auto status = attention(call.tensors());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::ErrorCode::NotFound);
  EXPECT_THAT(status.error().message,
              AllOf(HasSubstr("head_dim=16"), HasSubstr("for cpu"), HasSubstr("is forbidden")));
  ASSERT_TRUE(jit.get(*attention.specOf(call.tensors()), Device::cpu(), JitMode::Synchronous));
  EXPECT_TRUE(attention(call.tensors()));
}

/// Runs `body` in a forked child and says whether it came back true in time.
template <class Body> bool inChild(Body &&body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A folder that goes away with the object.
struct TempFolder {
  TempFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("attn-test", path)); }
  ~TempFolder() { llvm::sys::fs::remove_directories(path); }
  std::string file(const std::string &name) const { return (path + "/" + name).str(); }
  llvm::SmallString<128> path;
};

TEST(Jit, ForbidRunsWhatAnotherProcessCompiled) {
  TempFolder folder;
  JitOptions options;
  options.disk.emplace().directory = folder.file("cache");
  {
    Jit jit(options);
    Attention attention(jit, causal());
    for (int64_t seq : {1, 33}) {
      Call call(seq);
      ASSERT_TRUE(attention(call.tensors()));
    }
    EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 2u);
  }
  options.mode = JitMode::Forbid;
  Jit jit(options);
  Attention attention(jit, causal());
  for (int64_t seq : {1, 2, 33, 200}) {
    Call call(seq);
    auto status = attention(call.tensors());
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_LT(call.error(*attention.specOf(call.tensors())), 1e-5);
  }
  EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 0u);
  EXPECT_EQ(jit.metrics().counter(rt::metric::kDiskHits).value(), 2u);
  EXPECT_EQ(contexts(jit), 0u);
}

TEST(Jit, BundlesServeAndRecordingsTell) {
  TempFolder folder;
  Call call;
  JitOptions options;
  Jit maker(options);
  ASSERT_TRUE(maker.record(folder.file("asked.jsonl")));
  Attention made(maker, causal());
  auto spec = canonicalize(*made.specOf(call.tensors()));
  // The CPU has no schedule for short sequences.
  spec->maxSeqLen.reset();
  auto artifact = maker.compile(*spec, "cpu");
  ASSERT_TRUE(artifact) << artifact.error().message;
  ASSERT_TRUE(made(call.tensors()));
  auto recorded = llvm::MemoryBuffer::getFile(folder.file("asked.jsonl"));
  ASSERT_TRUE(recorded);
  EXPECT_EQ((*recorded)->getBuffer(), "{\"spec\":\"" + toText(*spec) + "\",\"target\":\"cpu\"}\n");

  rt::BundleWriter writer(compilerBuildId());
  auto compiler = Compiler::create({.target = "cpu"});
  ASSERT_TRUE(writer.add({toText(*spec),
                          "cpu",
                          rt::PayloadKind::Host,
                          compiler->alias(*spec).text,
                          (*artifact)->key(),
                          {}},
                         (*artifact)->artifact()));
  ASSERT_TRUE(writer.publish(folder.file("kernels.attnb")));
  options.mode = JitMode::Forbid;
  Jit jit(options);
  Attention attention(jit, causal());
  EXPECT_FALSE(attention(call.tensors()));
  EXPECT_THAT(jit.addBundle(folder.file("missing")).error().message, HasSubstr("no bundle"));
  ASSERT_TRUE(jit.addBundle(folder.file("kernels.attnb")));
  EXPECT_TRUE(attention(call.tensors()));
  EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 0u);
}

TEST(Jit, AForkedChildRunsAndCompiles) {
  JitOptions options;
  options.mode = JitMode::Background;
  Jit jit(options);
  Attention attention(jit);
  Call call(300), other(40, 2, 8);
  AttentionTensors tensors = call.tensors(), unseen = other.tensors();
  CallOptions threads;
  threads.threads = 3; // The pool that the child does not have.
  jit.get(*attention.specOf(tensors), Device::cpu(), JitMode::Synchronous);
  ASSERT_TRUE(attention(tensors, std::nullopt, threads));
  for (int i = 0; i < 4; ++i) {
    // Fork while a compile is on its way.
    Call busy(20, 3 + i, 8);
    ASSERT_TRUE(attention(busy.tensors()));
    EXPECT_TRUE(inChild([&] {
      bool ran = attention(tensors, std::nullopt, threads) && attention(unseen) &&
                 attention(busy.tensors());
      jit.wait();
      auto kernel = attention.kernel(unseen);
      return ran && kernel && isCompiled(jit, kernel->get());
    }));
  }
}

//===----------------------------------------------------------------------===//
// CUDA, on a driver that only remembers
//===----------------------------------------------------------------------===//

struct FakeDevices {
  FakeDevices() { fake.kernels = {"attn_forward", "attn_forward_0", "attn_forward_1"}; }
  JitOptions options(JitMode mode = JitMode::Synchronous) {
    JitOptions options;
    options.mode = mode;
    options.driver = [this] { return rt::CudaDriver::create(fake.api()); };
    return options;
  }
  rt::test::FakeCuda fake;
};

CallOptions onStream(uintptr_t stream) {
  CallOptions options;
  options.stream = reinterpret_cast<void *>(stream);
  options.checkPointers = false;
  return options;
}

TEST(JitCuda, LaunchesOnTheStreamOfEachDevice) {
  FakeDevices devices;
  Jit jit(devices.options());
  Attention attention(jit, causal());
  Call call;
  for (int ordinal : {0, 1}) {
    auto status = attention(call.tensors(Device::cuda(ordinal)), std::nullopt, onStream(0x70));
    ASSERT_TRUE(status) << status.error().message;
  }
  EXPECT_EQ(devices.fake.launches.size(), 2u);
  EXPECT_EQ(devices.fake.launches[0].stream, reinterpret_cast<rt::cuda::Stream>(0x70));
  EXPECT_THAT(devices.fake.loadedImage, HasSubstr(".target sm_80"));
  // The devices are alike, so that one compile does for both.
  EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 1u);
  EXPECT_FALSE(attention(call.tensors(Device::cuda(7))));
}

TEST(JitCuda, DevicesOfDifferentKindsGetTheirOwnKernels) {
  FakeDevices devices;
  devices.fake.computeMajorOf = {{1, 9}};
  devices.fake.sharedBytesPerBlock = 227 * 1024;
  Jit jit(devices.options());
  Attention attention(jit, causal());
  Call call;
  for (auto [ordinal, target] : {std::pair<int, const char *>{0, "sm_80"}, {1, "sm_90a"}}) {
    Device device = Device::cuda(ordinal);
    EXPECT_EQ(*jit.targetOf(device), target);
    auto status = attention(call.tensors(device), std::nullopt, onStream(0));
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_THAT(devices.fake.loadedImage, HasSubstr(".target " + std::string(target)));
  }
  EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 2u);
}

TEST(JitCuda, NothingIsLoadedDuringCapture) {
  FakeDevices devices;
  Jit jit(devices.options());
  Attention attention(jit);
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  devices.fake.capturing = {reinterpret_cast<rt::cuda::Stream>(0x70)};
  auto status = attention(tensors, std::nullopt, onStream(0x70));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::ErrorCode::Busy);
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("head_dim=16"), HasSubstr("captured")));
  EXPECT_EQ(devices.fake.loadedImage, "");
  ASSERT_TRUE(attention(tensors, std::nullopt, onStream(0x80)));
  EXPECT_TRUE(attention(tensors, std::nullopt, onStream(0x70)));
}

TEST(JitCuda, WorkspacesDoNotGrowDuringCapture) {
  FakeDevices devices;
  Jit jit(devices.options());
  KernelSpec split;
  split.pins.splitKV = 2;
  Attention attention(jit, split);
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  auto bytes = attention.workspaceBytes(tensors);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_GT(*bytes, 0u);
  devices.fake.capturing = {reinterpret_cast<rt::cuda::Stream>(0x70)};
  auto status = attention(tensors, std::nullopt, onStream(0x70));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::ErrorCode::Busy);
  EXPECT_EQ(devices.fake.allocations, 0);
  // Memory of the caller does, and so does what an earlier call has left.
  CallOptions options = onStream(0x70);
  alignas(256) static char memory[1 << 20];
  options.scratch = memory;
  options.scratchBytes = *bytes;
  EXPECT_TRUE(attention(tensors, std::nullopt, options));
  options.scratchBytes = *bytes - 1;
  EXPECT_THAT(attention(tensors, std::nullopt, options).error().message,
              HasSubstr("expected at least " + std::to_string(*bytes) + " bytes"));
  devices.fake.capturing.clear();
  EXPECT_TRUE(attention(tensors, std::nullopt, onStream(0x70)));
  devices.fake.capturing = {reinterpret_cast<rt::cuda::Stream>(0x70)};
  EXPECT_TRUE(attention(tensors, std::nullopt, onStream(0x70)));
}

TEST(JitCuda, ForbidTakesWhatIsCached) {
  FakeDevices devices;
  Jit jit(devices.options(JitMode::Forbid));
  Attention attention(jit);
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  auto status = attention(tensors, std::nullopt, onStream(0));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::ErrorCode::NotFound);
  EXPECT_THAT(status.error().message,
              HasSubstr("attnc prewarm phase=prefill dtype=f32 out=f32 head_dim=16"));
  EXPECT_THAT(status.error().message, HasSubstr("--target sm_80"));
  ASSERT_TRUE(jit.compile(*attention.specOf(tensors), "sm_80"));
  EXPECT_TRUE(attention(tensors, std::nullopt, onStream(0)));
}

/// A bundle with the PTX of a spec, and a payload in the place of its machine code.
void writeBundle(const std::string &path, const KernelSpec &spec, const rt::Artifact &ptx,
                 const std::function<void(rt::Artifact &)> &edit) {
  auto compiler = Compiler::create({.target = "sm_80"});
  rt::Artifact cubin = ptx;
  cubin.manifest.payloadKind = rt::PayloadKind::Cubin;
  cubin.payload = "machine code";
  edit(cubin);
  rt::BundleWriter writer(compilerBuildId());
  for (const rt::Artifact *artifact : {&ptx, const_cast<const rt::Artifact *>(&cubin)}) {
    rt::PayloadKind kind = artifact->manifest.payloadKind;
    std::string key = rt::KeyBuilder().add("kind", rt::toString(kind)).finish();
    ASSERT_TRUE(writer.add({toText(spec), "sm_80", kind, compiler->alias(spec, kind).text, key, {}},
                           *artifact));
  }
  ASSERT_TRUE(writer.publish(path));
}

TEST(JitCuda, MachineCodeComesFirstAndPtxStandsInForIt) {
  TempFolder folder;
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  FakeDevices devices;
  Jit maker(devices.options());
  Attention made(maker);
  auto spec = canonicalize(*made.specOf(tensors));
  auto ptx = maker.compile(*spec, "sm_80");
  ASSERT_TRUE(ptx) << ptx.error().message;
  struct {
    std::string image;
    std::function<void(rt::Artifact &)> edit;
  } cases[] = {
      {"machine code", [](rt::Artifact &) {}},
      // What the driver, or the device, does not take.
      {".target sm_80", [](rt::Artifact &cubin) { cubin.manifest.minDriverVersion = 13000; }},
      {".target sm_80", [](rt::Artifact &cubin) { cubin.manifest.kernels[0].name = "other"; }},
      {".target sm_80",
       [](rt::Artifact &cubin) { cubin.manifest.kernels[0].dynamicSharedBytes = 1 << 20; }}};
  for (const auto &[image, edit] : cases) {
    std::string path = folder.file("kernels.attnb");
    writeBundle(path, *spec, (*ptx)->artifact(), edit);
    Jit jit(devices.options(JitMode::Forbid));
    ASSERT_TRUE(jit.addBundle(path));
    Attention attention(jit);
    auto status = attention(tensors, std::nullopt, onStream(0));
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_THAT(devices.fake.loadedImage, HasSubstr(image));
    EXPECT_EQ(jit.metrics().counter(rt::metric::kCompiles).value(), 0u);
  }
}

TEST(JitCuda, PtxThatTheDriverRefusesIsAnError) {
  FakeDevices devices;
  Jit jit(devices.options());
  Attention attention(jit);
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  devices.fake.failures["cuModuleLoadDataEx"] = rt::cuda::kInvalidPtx;
  EXPECT_FALSE(attention(tensors, std::nullopt, onStream(0)));
  // Errors are not kept.
  devices.fake.failures.clear();
  EXPECT_TRUE(attention(tensors, std::nullopt, onStream(0)));
}

TEST(JitCuda, BackgroundWaitsWhereNothingStandsIn) {
  FakeDevices devices;
  Jit jit(devices.options(JitMode::Background));
  KernelSpec spec = causal();
  spec.headDim = spec.headDimV = 16;
  spec.headsQ = 4;
  spec.dtype = ElementType::F32;
  spec.alignment = 4;
  auto loose = jit.get(spec, Device::cuda(0));
  ASSERT_TRUE(loose) << loose.error().message;
  EXPECT_TRUE(isCompiled(jit, loose->get()));
  // A kernel for less alignment does stand in.
  spec.alignment = 16;
  auto standIn = jit.get(spec, Device::cuda(0));
  ASSERT_TRUE(standIn);
  EXPECT_EQ(*standIn, *loose);
  jit.wait();
  EXPECT_NE(*jit.get(spec, Device::cuda(0)), *loose);
}

TEST(JitCuda, AChildCannotUseItsParentsDevice) {
  FakeDevices devices;
  Jit jit(devices.options());
  Attention attention(jit);
  Call call;
  AttentionTensors tensors = call.tensors(Device::cuda(0));
  ASSERT_TRUE(attention(tensors, std::nullopt, onStream(0)));
  EXPECT_TRUE(inChild([&] {
    auto status = attention(tensors, std::nullopt, onStream(0));
    return !status && status.error().message.find("forked") != std::string::npos &&
           attention(call.tensors());
  }));
}

TEST(JitCuda, CompilesForATargetWithoutADriver) {
  JitOptions options;
  options.driver = []() -> rt::Expected<rt::CudaDriver::Ptr> {
    return rt::fail(rt::ErrorCode::Unavailable, "no driver here");
  };
  Jit jit(options);
  Attention attention(jit);
  Call call;
  auto artifact = jit.compile(*attention.specOf(call.tensors()), "sm_90a");
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ((*artifact)->artifact().manifest.chip, "sm_90a");
  EXPECT_EQ(attention(call.tensors(Device::cuda(0))).error().message, "no driver here");
}

} // namespace
