//===- Core.cpp - The extension module attn._core -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the Python sources of the package are written on; its types are in attn/_core.pyi.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Errors.h"

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;
using namespace attn::python;

/// The process's kernels, made at the first use. Never destroyed: other threads may still run them.
static AttnJit *jit() {
  static AttnJit *made = nullptr;
  // Under the interpreter's lock.
  if (!made)
    check(attnJitCreate(ATTN_JIT_SYNCHRONOUS, nullptr, &made));
  return made;
}

/// Text that a C function returned.
static std::string take(char *text) {
  std::string result = text;
  attnFreeText(text);
  return result;
}

/// What `work` returns, called while other Python threads run.
template <class Work> static AttnStatus unlocked(Work &&work) {
  nb::gil_scoped_release release;
  return work();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// Which attention, and how arrays lie in their dimensions.
class PyAttention {
public:
  PyAttention(int mask, int64_t windowLeft, int64_t windowRight, double softcap, bool headMajor,
              int protocol)
      : headMajor(headMajor), protocol(static_cast<Protocol>(protocol)) {
    AttnAttentionOptions options{static_cast<AttnMask>(mask), windowLeft, windowRight, softcap};
    check(attnAttentionCreate(jit(), &options, &attention));
  }
  ~PyAttention() { attnAttentionDestroy(attention); }
  PyAttention(const PyAttention &) = delete;
  PyAttention &operator=(const PyAttention &) = delete;

  void run(nb::handle q, nb::handle k, nb::handle v, nb::handle o, nb::handle lse,
           nb::handle slopes, std::optional<double> scale, uintptr_t stream, unsigned threads,
           nb::handle allocate) const;
  std::string specOf(nb::handle q, nb::handle k, nb::handle v, nb::handle o, nb::handle lse,
                     nb::handle slopes) const;

private:
  /// A call with what its tensors live in.
  struct Arguments {
    AttnCall call{};
    ArrayView views[6];
  };
  void describe(Arguments &arguments, nb::handle q, nb::handle k, nb::handle v, nb::handle o,
                nb::handle lse, nb::handle slopes) const;

  AttnAttention *attention = nullptr;
  bool headMajor;
  Protocol protocol;
};

} // namespace

void PyAttention::describe(Arguments &arguments, nb::handle q, nb::handle k, nb::handle v,
                           nb::handle o, nb::handle lse, nb::handle slopes) const {
  AttnCall &call = arguments.call;
  ArrayView *views = arguments.views;
  auto read = [&](ArrayView &view, const char *name, nb::handle array, bool isResult) {
    view = viewArray(name, array, protocol, isResult);
    // q is the first, so that it agrees with itself.
    if (view.device != views[0].device) {
      auto place = [](int device) {
        return device < 0 ? std::string("the CPU") : "cuda:" + std::to_string(device);
      };
      raise("DeviceError", std::string(name) + ": expected an array on " + place(views[0].device) +
                               " as q is, got one on " + place(view.device));
    }
    if (headMajor && view.tensor.rank == 4) {
      std::swap(view.tensor.sizes[1], view.tensor.sizes[2]);
      std::swap(view.tensor.strides[1], view.tensor.strides[2]);
    }
  };
  read(views[0], "q", q, false);
  read(views[1], "k", k, false);
  read(views[2], "v", v, false);
  read(views[3], "o", o, true);
  call.device = views[0].device;
  call.q = views[0].tensor;
  call.k = views[1].tensor;
  call.v = views[2].tensor;
  call.o = views[3].tensor;
  if (!lse.is_none()) {
    read(views[4], "lse", lse, true);
    call.lse = &views[4].tensor;
  }
  if (!slopes.is_none()) {
    read(views[5], "alibi_slopes", slopes, false);
    call.slopes = &views[5].tensor;
  }
}

void PyAttention::run(nb::handle q, nb::handle k, nb::handle v, nb::handle o, nb::handle lse,
                      nb::handle slopes, std::optional<double> scale, uintptr_t stream,
                      unsigned threads, nb::handle allocate) const {
  Arguments arguments;
  describe(arguments, q, k, v, o, lse, slopes);
  AttnCall &call = arguments.call;
  if (scale)
    call.scale = &*scale;
  call.stream = reinterpret_cast<void *>(stream);
  call.threads = threads;
  nb::object memory;
  if (call.device >= 0 && !allocate.is_none()) {
    size_t bytes = 0;
    check(unlocked([&] { return attnWorkspaceBytes(attention, &call, &bytes); }));
    if (bytes > 0) {
      memory = allocate(bytes);
      call.scratch = reinterpret_cast<void *>(nb::cast<uintptr_t>(memory[1]));
      call.scratchBytes = bytes;
    }
  }
  check(unlocked([&] { return attnRun(attention, &call); }));
}

std::string PyAttention::specOf(nb::handle q, nb::handle k, nb::handle v, nb::handle o,
                                nb::handle lse, nb::handle slopes) const {
  Arguments arguments;
  describe(arguments, q, k, v, o, lse, slopes);
  char *spec = nullptr;
  check(attnSpecOf(attention, &arguments.call, &spec));
  return take(spec);
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

static std::string canonicalSpec(const std::string &spec) {
  char *canonical = nullptr;
  check(attnSpecCanonicalize(spec.c_str(), &canonical));
  return take(canonical);
}

static nb::object compile(const std::string &spec, const std::string &target) {
  AttnJit *kernels = jit();
  char *ptx = nullptr, *manifest = nullptr;
  check(unlocked(
      [&] { return attnCompile(kernels, spec.c_str(), target.c_str(), &ptx, &manifest); }));
  if (!ptx)
    return nb::none();
  std::string payload = take(ptx), json = take(manifest);
  return nb::make_tuple(payload, json);
}

static nb::object explain(const std::string &spec, const std::string &target) {
  char *text = nullptr, *json = nullptr;
  check(unlocked([&] { return attnExplain(spec.c_str(), target.c_str(), &text, &json); }));
  std::string forPeople = take(text), forPrograms = take(json);
  return nb::make_tuple(forPeople, forPrograms);
}

/// Files of kernels, and of what was asked for.
static void addBundle(const std::string &path) {
  AttnJit *kernels = jit();
  check(unlocked([&] { return attnJitAddBundle(kernels, path.c_str()); }));
}
static void record(const std::string &path) {
  AttnStatus status = attnJitRecord(jit(), path.c_str());
  // No device is missing, but the file is no good.
  check(status == ATTN_UNAVAILABLE ? ATTN_BAD_INPUT : status);
}

static std::string metrics(int format) {
  char *text = nullptr;
  check(attnJitMetrics(jit(), static_cast<AttnMetricsFormat>(format), &text));
  return take(text);
}

static void wait() {
  AttnJit *kernels = jit();
  nb::gil_scoped_release release;
  attnJitWait(kernels);
}

NB_MODULE(_core, m) {
  // Options are kept to the end, on purpose.
  nb::set_leak_warnings(false);
  m.attr("version") = attnVersion();
  m.def("register_type", &registerType);
  m.def("canonicalize", &canonicalSpec);
  m.def("compile", &compile);
  m.def("explain", &explain);
  m.def("set_mode", [](int mode) { attnJitSetMode(jit(), static_cast<AttnJitMode>(mode)); });
  m.def("mode", [] { return static_cast<int>(attnJitGetMode(jit())); });
  m.def("wait", &wait);
  m.def("add_bundle", &addBundle);
  m.def("record", &record);
  m.def("metrics", &metrics);

  m.attr("TORCH") = static_cast<int>(Protocol::Torch);
  m.attr("DLPACK") = static_cast<int>(Protocol::DLPack);
  m.attr("CUDA_INTERFACE") = static_cast<int>(Protocol::CudaInterface);
  nb::class_<PyAttention>(m, "Attention")
      .def(nb::init<int, int64_t, int64_t, double, bool, int>())
      .def("run", &PyAttention::run, "q"_a.none(), "k"_a.none(), "v"_a.none(), "o"_a.none(),
           "lse"_a.none(), "slopes"_a.none(), "scale"_a.none(), "stream"_a, "threads"_a,
           "allocate"_a.none())
      .def("spec_of", &PyAttention::specOf, "q"_a.none(), "k"_a.none(), "v"_a.none(), "o"_a.none(),
           "lse"_a.none(), "slopes"_a.none());
}
