//===- RunProblem.cpp - Runs a problem and checks its result --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/RunProblem.h"

#include "Compare.h"
#include "RunTensors.h"

#include <chrono>

using namespace attn;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static std::string gpuTargetNames() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const TargetInfo &target : allTargets())
    if (target.isGpu)
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

rt::Expected<RunDevice> RunDevice::parse(llvm::StringRef text) {
  RunDevice device;
  if (text == "cpu")
    return device;
  llvm::StringRef rest = text;
  if (rest.consume_front("emulate:")) {
    const TargetInfo *target = findTarget(rest);
    if (!target || !target->isGpu)
      return rt::fail(
          rt::ErrorCode::BadInput,
          ("--device " + text + ": expected emulate: and a GPU target, one of " + gpuTargetNames())
              .str());
    device.emulated = rest.str();
    return device;
  }
  device.isCuda = true;
  if (!rest.consume_front("cuda") ||
      (!rest.empty() && (!rest.consume_front(":") || rest.getAsInteger(10, device.ordinal))) ||
      device.ordinal < 0)
    return rt::fail(rt::ErrorCode::BadInput,
                    ("--device " + text + ": expected cpu, cuda:N or emulate:TARGET").str());
  return device;
}

std::string RunDevice::text() const {
  if (!emulated.empty())
    return "emulate:" + emulated;
  return isCuda ? "cuda:" + std::to_string(ordinal) : "cpu";
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

rt::Expected<std::unique_ptr<ProblemRunner>> ProblemRunner::create(RunOptions options,
                                                                   rt::KernelCache &cache) {
  rt::CudaContextPtr context;
  if (options.device.isCuda) {
    rt::Expected<rt::CudaDriver::Ptr> driver = rt::CudaDriver::load();
    if (!driver)
      return rt::fail(driver.error());
    auto created = rt::CudaContext::create(*driver, options.device.ordinal);
    if (!created)
      return rt::fail(created.error());
    context = *created;
    options.compile.schedules.device = context->device().name;
    if (options.compile.target.empty()) {
      const rt::DeviceInfo &device = context->device();
      const TargetInfo *target = targetOfDevice(device.computeMajor, device.computeMinor);
      if (!target)
        return rt::fail(rt::ErrorCode::BadInput, "--device " + options.device.text() +
                                                     ": kernels need sm_80 or later, got " +
                                                     device.chip() +
                                                     "; run on another device, or on the CPU");
      options.compile.target = target->name;
    }
  } else if (options.compile.target.empty()) {
    options.compile.target = options.device.emulated.empty() ? "cpu" : options.device.emulated;
  }
  rt::Expected<Compiler> compiler = Compiler::create(options.compile);
  if (!compiler)
    return rt::fail(compiler.error());
  bool fits = options.device.emulated.empty() ? compiler->target().isGpu == options.device.isCuda
                                              : compiler->target().name == options.device.emulated;
  if (!fits)
    return rt::fail(rt::ErrorCode::BadInput, "--target " + options.compile.target +
                                                 " does not run on --device " +
                                                 options.device.text());
  std::shared_ptr<rt::SpecRecorder> recorder;
  if (!options.record.empty()) {
    auto opened = rt::SpecRecorder::open(options.record);
    if (!opened)
      return rt::fail(rt::ErrorCode::BadInput, "--record: " + opened.error().message);
    recorder = std::move(*opened);
  }
  std::unique_ptr<ProblemRunner> runner(
      new ProblemRunner(std::move(options), cache, std::move(*compiler)));
  runner->recorder = std::move(recorder);
  runner->context = std::move(context);
  return runner;
}

rt::Expected<const HostProgram *> ProblemRunner::hostProgram(const KernelSpec &spec) {
  std::unique_ptr<HostProgram> &slot = programs[toText(spec)];
  compileMs = 0;
  if (!slot) {
    auto begin = Clock::now();
    auto program = compiler.compileHost(spec, cache);
    if (!program)
      return rt::fail(program.error());
    slot = std::move(*program);
    compileMs = millisecondsSince(begin);
  }
  return slot.get();
}

rt::Expected<std::vector<double>> ProblemRunner::runOnHost(const RunRequest &request,
                                                           ProblemTensors &tensors) {
  rt::Expected<const HostProgram *> program = hostProgram(request.spec);
  if (!program)
    return rt::fail(program.error());
  auto arguments = tensors.arguments((*program)->manifest());
  if (!arguments)
    return rt::fail(arguments.error());
  std::vector<double> times;
  // One more than is timed, to warm up.
  for (unsigned i = 0; i <= request.repeat; ++i) {
    auto begin = Clock::now();
    if (rt::Status status = (*program)->run(*arguments, options.threads); !status)
      return rt::fail(status.error());
    if (i > 0)
      times.push_back(millisecondsSince(begin));
  }
  return times;
}

static double percentile(std::vector<double> times, double fraction) {
  if (times.empty())
    return 0;
  llvm::sort(times);
  return times[static_cast<size_t>(fraction * static_cast<double>(times.size() - 1) + 0.5)];
}

rt::Expected<RunReport> ProblemRunner::run(const RunRequest &request) {
  const KernelSpec &spec = request.spec;
  const RunShape &shape = request.shape;
  if (!request.l3File.empty() && options.device.emulated.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    "--l3: has no meaning for --device " + options.device.text());
  if (recorder)
    if (rt::Status status = recorder->record(toText(spec), compiler.target().name); !status)
      return rt::fail(status.error());
  rt::Expected<ProblemTensors> tensors = ProblemTensors::create(request);
  if (!tensors)
    return rt::fail(tensors.error());
  std::optional<NpyArray> expected;
  if (!request.expectFile.empty()) {
    auto array = readShaped("--expect", request.expectFile, tensors->o.view());
    if (!array)
      return rt::fail(array.error());
    expected = std::move(*array);
  }

  // Run.
  auto times = !options.device.emulated.empty() ? runOnEmulator(request, *tensors)
               : options.device.isCuda          ? runOnCuda(request, *tensors)
                                                : runOnHost(request, *tensors);
  if (!times)
    return rt::fail(times.error());

  // Report.
  RunReport report;
  report.problem = toText(spec);
  report.shape = toText(shape);
  report.device = options.device.text();
  report.digest = digestOf(tensors->o.view());
  report.compileMs = compileMs;
  report.medianMs = percentile(*times, 0.5);
  report.p95Ms = percentile(*times, 0.95);
  double flops = 2 * countPairs(spec, shape) * static_cast<double>(*spec.headDim + *spec.headDimV);
  report.tflops = report.medianMs > 0 ? flops / report.medianMs * 1e-9 : 0;
  if (request.check) {
    ReferenceInputs inputs{tensors->q.view(), tensors->k.view(), tensors->v.view(),
                           tensors->slopes.data()};
    std::vector<int64_t> rows = chooseRows(spec, shape);
    const float *lse = spec.lse ? static_cast<const float *>(tensors->lse.data()) : nullptr;
    report.error = compareWithReference(
        spec, tensors->o.view(), lse, computeReference(spec, shape, inputs, rows, 0),
        computeReference(spec, shape, inputs, rows, 0, Precision::Naive));
    if (request.layout != Layout::Sparse && report.error->passed && !gapsAreUntouched(tensors->o)) {
      report.error->passed = false;
      report.error->failure = "wrote between the rows of o";
    }
  }
  if (expected)
    report.expected = compareWithArray(spec, tensors->o.view(), *expected);
  return report;
}
