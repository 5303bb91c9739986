//===- Jit.cpp - Kernels compiled when they are needed --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Jit.h"

#include "JitKernels.h"
#include "KernelTable.h"
#include "attn/Compiler/LengthClass.h"
#include "attn/Runtime/Flight.h"
#include "attn/Runtime/Fork.h"
#include "attn/Runtime/SpecRecorder.h"

#include <llvm/Support/ThreadPool.h>
#include <map>

using namespace attn;

/// Locks are taken inside of a NoForkScope, which every entry point opens.
class Jit::Impl {
public:
  explicit Impl(JitOptions options);

  rt::Expected<JitKernelPtr> get(const KernelSpec &spec, Device device, JitMode mode, void *stream);
  rt::Expected<Compiler> compilerFor(const std::string &target);
  rt::Expected<std::shared_ptr<CudaDevice>> open(int ordinal);
  rt::Expected<std::string> targetOf(Device device);
  rt::Status startRecording(const std::string &path);
  /// Writes a kernel that was asked for to the recording, if there is one.
  void record(const KernelSpec &spec, const std::string &target);

  JitOptions options;
  std::atomic<JitMode> mode;
  rt::Metrics counters;
  rt::KernelCache cache;
  KernelTable table;
  rt::PerProcess<llvm::DefaultThreadPool> background;

private:
  using Flight = rt::Flight<JitKernelPtr>;

  rt::Status checkCapture(const KernelSpec &spec, CudaDevice &device, void *stream);
  rt::Status checkCached(const KernelSpec &spec, const std::string &target);
  /// Makes the kernel, or waits for the thread that does.
  rt::Expected<JitKernelPtr> make(const KernelKey &key);
  rt::Expected<JitKernelPtr> build(const KernelKey &key);
  /// Starts the compile on another thread; null when nothing stands in for it.
  rt::Expected<JitKernelPtr> makeInBackground(const KernelKey &key);
  JitKernelPtr findSlower(const KernelKey &key);

  std::mutex mutex; ///< Of what follows; never held while a kernel is made.
  std::map<std::string, std::shared_ptr<Flight>> flights;
  /// What answers for a key that is compiled in the background, in this process.
  std::map<std::string, JitKernelPtr> standIns;
  unsigned standInGeneration = rt::forkGeneration();
  /// Of compiles in the background, for whoever asks next.
  std::map<std::string, rt::Error> failures;
  std::map<int, std::shared_ptr<CudaDevice>> devices;
  std::shared_ptr<rt::SpecRecorder> recorder;
  rt::CudaDriver::Ptr driver;
};

static std::unique_ptr<rt::DiskCache> openDisk(const JitOptions &options) {
  return std::make_unique<rt::DiskCache>(options.disk.value_or(rt::DiskCacheOptions()));
}

static std::string nameOf(const KernelKey &key) {
  return toText(key.spec) + " device=" + key.device.text();
}

Jit::Impl::Impl(JitOptions given)
    : options(std::move(given)), mode(options.mode), cache(openDisk(options), counters) {
  options.compile.metrics = &counters;
}

//===----------------------------------------------------------------------===//
// Devices and targets
//===----------------------------------------------------------------------===//

rt::Expected<Compiler> Jit::Impl::compilerFor(const std::string &target) {
  CompileOptions compile = options.compile;
  compile.target = target;
  return Compiler::create(std::move(compile));
}

rt::Expected<std::shared_ptr<CudaDevice>> Jit::Impl::open(int ordinal) {
  std::lock_guard<std::mutex> guard(mutex);
  std::shared_ptr<CudaDevice> &slot = devices[ordinal];
  if (!slot) {
    if (!driver) {
      rt::Expected<rt::CudaDriver::Ptr> loaded = options.driver();
      if (!loaded)
        return rt::fail(loaded.error());
      driver = *loaded;
    }
    rt::Expected<std::shared_ptr<CudaDevice>> opened = CudaDevice::open(driver, ordinal);
    if (!opened)
      return rt::fail(opened.error());
    slot = *opened;
  }
  if (rt::Status status = slot->check(); !status)
    return rt::fail(status.error());
  return slot;
}

rt::Expected<std::string> Jit::Impl::targetOf(Device device) {
  if (!device.isCuda())
    return std::string("cpu");
  rt::Expected<std::shared_ptr<CudaDevice>> opened = open(device.ordinal);
  if (!opened)
    return rt::fail(opened.error());
  return (*opened)->target().name;
}

rt::Status Jit::Impl::startRecording(const std::string &path) {
  auto opened = rt::SpecRecorder::open(path);
  if (!opened)
    return rt::fail(opened.error());
  std::lock_guard<std::mutex> guard(mutex);
  recorder = std::move(*opened);
  return {};
}

void Jit::Impl::record(const KernelSpec &spec, const std::string &target) {
  std::shared_ptr<rt::SpecRecorder> to;
  {
    std::lock_guard<std::mutex> guard(mutex);
    to = recorder;
  }
  if (!to)
    return;
  rt::Status status = to->record(toText(spec), target);
  if (status)
    return;
  // A full disk is no reason to fail a call: the recording ends, which is said once.
  std::lock_guard<std::mutex> guard(mutex);
  if (recorder != to)
    return;
  recorder = nullptr;
  counters.event("the recording ends: " + status.error().message);
  if (options.disk && options.disk->warn)
    options.disk->warn("the recording ends: " + status.error().message);
}

//===----------------------------------------------------------------------===//
// What must not happen now
//===----------------------------------------------------------------------===//

rt::Status Jit::Impl::checkCapture(const KernelSpec &spec, CudaDevice &device, void *stream) {
  rt::Expected<bool> capturing =
      device.context()->isCapturing(static_cast<rt::cuda::Stream>(stream));
  if (!capturing)
    return rt::fail(capturing.error());
  if (!*capturing)
    return {};
  return rt::fail(rt::ErrorCode::Busy,
                  "the kernel '" + toText(spec) + "' is not loaded on cuda:" +
                      std::to_string(device.context()->device().ordinal) +
                      ", and cannot be while a CUDA graph is captured; make the call once before "
                      "the capture");
}

rt::Status Jit::Impl::checkCached(const KernelSpec &spec, const std::string &target) {
  rt::Expected<Compiler> compiler = compilerFor(target);
  if (!compiler)
    return rt::fail(compiler.error());
  if (compiler->find(spec, cache))
    return {};
  return rt::fail(notCompiled(spec, target));
}

//===----------------------------------------------------------------------===//
// Making kernels
//===----------------------------------------------------------------------===//

rt::Expected<JitKernelPtr> Jit::Impl::build(const KernelKey &key) {
  std::shared_ptr<CudaDevice> device;
  if (key.device.isCuda()) {
    rt::Expected<std::shared_ptr<CudaDevice>> opened = open(key.device.ordinal);
    if (!opened)
      return rt::fail(opened.error());
    device = *opened;
  }
  rt::Expected<Compiler> compiler = compilerFor(device ? device->target().name : "cpu");
  if (!compiler)
    return rt::fail(compiler.error());
  if (!device) {
    auto program = compiler->compileHost(key.spec, cache);
    if (!program)
      return rt::fail(program.error());
    return std::make_shared<HostJitKernel>(key.spec, std::move(*program));
  }
  // Pre-warmed machine code saves the driver's compile, where the driver takes it.
  if (rt::LoadedArtifactPtr cubin = compiler->find(key.spec, rt::PayloadKind::Cubin, cache))
    if (rt::Expected<rt::Module::Ptr> module = cubin->module(device->context()))
      return std::make_shared<CudaJitKernel>(key.spec, std::move(device), std::move(*module));
  rt::Expected<rt::LoadedArtifactPtr> artifact =
      compiler->compile(key.spec, rt::PayloadKind::Ptx, cache);
  if (!artifact)
    return rt::fail(artifact.error());
  rt::Expected<rt::Module::Ptr> module = (*artifact)->module(device->context());
  if (!module)
    return rt::fail(module.error());
  return std::make_shared<CudaJitKernel>(key.spec, std::move(device), std::move(*module));
}

rt::Expected<JitKernelPtr> Jit::Impl::make(const KernelKey &key) {
  std::string name = nameOf(key);
  std::shared_ptr<Flight> flight;
  bool mine = false;
  {
    std::lock_guard<std::mutex> guard(mutex);
    // A flight may have landed since the look of the caller.
    if (const JitKernelPtr *found = table.find(key.spec, key.device))
      return *found;
    std::shared_ptr<Flight> &slot = flights[name];
    mine = !slot;
    if (mine)
      slot = std::make_shared<Flight>();
    flight = slot;
  }
  if (!mine)
    return flight->wait();
  rt::Expected<JitKernelPtr> result = build(key);
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (result)
      table.insert(key, *result);
    flights.erase(name);
  }
  flight->land(result);
  return result;
}

/// Kernels of other specs that give the same results on the same calls, and what needs no kernel.
JitKernelPtr Jit::Impl::findSlower(const KernelKey &key) {
  KernelSpec spec = key.spec;
  for (spec.alignment /= 2; spec.alignment >= rt::byteSize(spec.dtype); spec.alignment /= 2)
    if (const JitKernelPtr *found = table.find(spec, key.device))
      return *found;
  if (key.device.isCuda())
    return nullptr;
  rt::Expected<Compiler> compiler = compilerFor("cpu");
  rt::Expected<rt::Manifest> signature =
      compiler ? compiler->signature(key.spec) : rt::fail(compiler.error());
  // What has no signature does not compile either, which is what the caller tries next.
  return signature ? std::make_shared<ReferenceKernel>(key.spec, std::move(*signature)) : nullptr;
}

rt::Expected<JitKernelPtr> Jit::Impl::makeInBackground(const KernelKey &key) {
  std::string name = nameOf(key);
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (standInGeneration != rt::forkGeneration()) {
      standIns.clear();
      standInGeneration = rt::forkGeneration();
    }
    if (auto it = standIns.find(name); it != standIns.end())
      return it->second;
    if (auto it = failures.find(name); it != failures.end()) {
      rt::Error error = std::move(it->second);
      failures.erase(it);
      return rt::fail(std::move(error));
    }
  }
  JitKernelPtr slower = findSlower(key);
  if (!slower)
    return slower;
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (const JitKernelPtr *found = table.find(key.spec, key.device))
      return *found;
    if (auto [it, isNew] = standIns.emplace(name, slower); !isNew)
      return it->second;
  }
  auto pool = background.get([](auto &) { return true; },
                             [] {
                               llvm::ThreadPoolStrategy strategy;
                               strategy.ThreadsRequested = 1;
                               return std::make_shared<llvm::DefaultThreadPool>(strategy);
                             });
  pool->async([this, key, name] {
    rt::NoForkScope scope;
    rt::Expected<JitKernelPtr> result = make(key);
    std::lock_guard<std::mutex> guard(mutex);
    if (!result)
      failures.insert_or_assign(name, result.error());
    standIns.erase(name);
  });
  return slower;
}

rt::Expected<JitKernelPtr> Jit::Impl::get(const KernelSpec &spec, Device device, JitMode mode,
                                          void *stream) {
  rt::Expected<KernelSpec> canonical = canonicalize(spec);
  if (!canonical)
    return rt::fail(canonical.error());
  rt::Expected<std::string> target = targetOf(device);
  if (!target)
    return rt::fail(target.error());
  KernelKey key{withLengthClass(std::move(*canonical), *findTarget(*target)), device};
  if (const JitKernelPtr *found = table.find(key.spec, device)) {
    table.insert({spec, device}, *found);
    return *found;
  }
  if (device.isCuda()) {
    rt::Expected<std::shared_ptr<CudaDevice>> opened = open(device.ordinal);
    if (!opened)
      return rt::fail(opened.error());
    if (rt::Status status = checkCapture(key.spec, **opened, stream); !status)
      return rt::fail(status.error());
  }
  record(key.spec, *target);
  if (mode == JitMode::Forbid)
    if (rt::Status status = checkCached(key.spec, *target); !status)
      return rt::fail(status.error());
  if (mode == JitMode::Background)
    if (rt::Expected<JitKernelPtr> slower = makeInBackground(key); !slower || *slower)
      return slower;
  return make(key);
}

//===----------------------------------------------------------------------===//
// Jit
//===----------------------------------------------------------------------===//

Jit::Jit(JitOptions options) : impl(std::make_unique<Impl>(std::move(options))) {}
Jit::~Jit() { wait(); }

JitMode Jit::mode() const { return impl->mode.load(std::memory_order_relaxed); }
void Jit::setMode(JitMode mode) { impl->mode.store(mode, std::memory_order_relaxed); }
rt::Metrics &Jit::metrics() { return impl->counters; }

const JitKernel *Jit::find(const KernelSpec &spec, Device device) const {
  const JitKernelPtr *found = impl->table.find(spec, device);
  return found ? found->get() : nullptr;
}

rt::Expected<JitKernelPtr> Jit::get(const KernelSpec &spec, Device device, JitMode mode,
                                    void *stream) {
  if (const JitKernelPtr *found = impl->table.find(spec, device))
    return *found;
  rt::NoForkScope scope;
  return impl->get(spec, device, mode, stream);
}

rt::Expected<rt::LoadedArtifactPtr> Jit::compile(const KernelSpec &spec,
                                                 const std::string &target) {
  rt::NoForkScope scope;
  rt::Expected<KernelSpec> canonical = canonicalize(spec);
  if (!canonical)
    return rt::fail(canonical.error());
  rt::Expected<Compiler> compiler = impl->compilerFor(target);
  if (!compiler)
    return rt::fail(compiler.error());
  KernelSpec dispatched = withLengthClass(std::move(*canonical), compiler->target());
  impl->record(dispatched, target);
  return compiler->compile(dispatched, compiler->codeKind(), impl->cache);
}

rt::Status Jit::addBundle(const std::string &path) {
  rt::NoForkScope scope;
  rt::Expected<rt::Bundle::Ptr> bundle = rt::Bundle::open(path);
  if (!bundle)
    return rt::fail(rt::ErrorCode::BadInput, bundle.error().message);
  impl->cache.disk()->addBundle(std::move(*bundle));
  return {};
}

rt::Status Jit::record(const std::string &path) {
  rt::NoForkScope scope;
  return impl->startRecording(path);
}

rt::Expected<std::string> Jit::targetOf(Device device) {
  rt::NoForkScope scope;
  return impl->targetOf(device);
}

void Jit::wait() {
  if (std::shared_ptr<llvm::DefaultThreadPool> pool = impl->background.find())
    pool->wait();
}
