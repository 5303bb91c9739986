//===- emulate_kernels.cpp - Runs kernels of a module on the emulator -----===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emulate-kernels MODULE.mlir [TARGET]: runs kernels on TARGET, sm_90a by default. Reads launches
// from the standard input, one JSON object a line, and answers each with a line, {"ok": true} or
// {"error": "..."}.
//
//   {"kernel": "f", "grid": [1,1,1], "block": [128,1,1], "shared": 1024,
//    "async": "early", "seed": 0,
//    "args": [{"file": "in.bin"}, {"file": "out.bin", "output": true}, {"i32": 5}, {"i64": 5},
//             {"f32": 0.5}, {"map": {"arg": 0, "offset": 0, "element": 9, "sizes": [..],
//                                    "strides": [..], "box": [..], "steps": [..], "swizzle": 3}}]}
//
// A file is a buffer in global memory that begins with its bytes; one marked as output is
// written back, one with "passed": false is no parameter. A map describes a tensor in the buffer of
// an argument, its strides in bytes.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Program.h"
#include "attn/Emulator/TensorMap.h"
#include "attn/Pipelines/Registration.h"
#include "attn/Target/TargetInfo.h"

#include <iostream>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Parser/Parser.h>

using namespace attn;
namespace json = llvm::json;

namespace {

/// TMA wants multiples of 16 bytes, tensor maps of 64.
constexpr size_t kAlignment = 1024;

struct AlignedBytes {
  explicit AlignedBytes(size_t size)
      : size(size), data(static_cast<std::byte *>(std::aligned_alloc(
                        kAlignment, llvm::alignTo(std::max<size_t>(size, 1), kAlignment)))) {
    std::fill(data, data + size, std::byte(0));
  }
  AlignedBytes(AlignedBytes &&other) : size(other.size), data(std::exchange(other.data, nullptr)) {}
  ~AlignedBytes() { std::free(data); }
  size_t size;
  std::byte *data;
};

/// The value of one parameter, and the memory that it points to.
struct Parameter {
  AlignedBytes value{128};
  std::unique_ptr<AlignedBytes> buffer;
  std::string outputFile;
  bool isPassed = true;
};

template <typename T> void assign(Parameter &parameter, T value) {
  emu::put(parameter.value.data, 0, value);
}

int64_t number(const json::Object &object, llvm::StringRef key) {
  return object.getInteger(key).value_or(0);
}

emu::TensorMap makeMap(const json::Object &spec, llvm::ArrayRef<Parameter> parameters) {
  emu::TensorMap map;
  map.base = parameters[number(spec, "arg")].buffer->data + number(spec, "offset");
  map.element = static_cast<emu::TensorElement>(number(spec, "element"));
  map.swizzle = static_cast<emu::Swizzle>(number(spec, "swizzle"));
  map.fillNaN = number(spec, "nan") != 0;
  const json::Array &sizes = *spec.getArray("sizes"), &strides = *spec.getArray("strides"),
                    &box = *spec.getArray("box"), &steps = *spec.getArray("steps");
  map.rank = static_cast<uint8_t>(sizes.size());
  for (unsigned dim = 0; dim < map.rank; ++dim) {
    map.sizes[dim] = *sizes[dim].getAsInteger();
    map.box[dim] = static_cast<uint32_t>(*box[dim].getAsInteger());
    map.steps[dim] = static_cast<uint8_t>(*steps[dim].getAsInteger());
    if (dim != 0)
      map.strides[dim - 1] = *strides[dim - 1].getAsInteger();
  }
  return map;
}

emu::Dim3 dims(const json::Object &object, llvm::StringRef key) {
  const json::Array &array = *object.getArray(key);
  auto at = [&](size_t i) { return static_cast<unsigned>(*array[i].getAsInteger()); };
  return {at(0), at(1), at(2)};
}

emu::LaunchOptions options(const json::Object &request) {
  emu::LaunchOptions options;
  llvm::StringRef mode = request.getString("async").value_or("early");
  options.async = mode == "late"     ? emu::AsyncMode::Late
                  : mode == "random" ? emu::AsyncMode::Random
                                     : emu::AsyncMode::Early;
  options.seed = static_cast<uint64_t>(number(request, "seed"));
  options.maxSteps = 1 << 26;
  return options;
}

/// What is wrong with a launch; empty when it ran.
std::string run(const emu::Program &program, const json::Object &request) {
  std::vector<Parameter> parameters;
  emu::GlobalMemory memory;
  for (const json::Value &value : *request.getArray("args")) {
    const json::Object &spec = *value.getAsObject();
    Parameter parameter;
    if (std::optional<llvm::StringRef> file = spec.getString("file")) {
      auto contents = llvm::MemoryBuffer::getFile(*file, /*IsText=*/false,
                                                  /*RequiresNullTerminator=*/false);
      if (!contents)
        return "cannot read " + file->str();
      parameter.buffer = std::make_unique<AlignedBytes>((*contents)->getBufferSize());
      std::memcpy(parameter.buffer->data, (*contents)->getBufferStart(), parameter.buffer->size);
      memory.addBytes("argument " + std::to_string(parameters.size()), parameter.buffer->data,
                      parameter.buffer->size);
      assign(parameter, parameter.buffer->data);
      parameter.isPassed = spec.getBoolean("passed").value_or(true);
      if (spec.getBoolean("output").value_or(false))
        parameter.outputFile = file->str();
    } else if (const json::Object *map = spec.getObject("map")) {
      assign(parameter, makeMap(*map, parameters));
    } else if (std::optional<double> real = spec.getNumber("f32")) {
      assign(parameter, static_cast<float>(*real));
    } else if (std::optional<int64_t> wide = spec.getInteger("i64")) {
      assign(parameter, *wide);
    } else {
      assign(parameter, static_cast<int32_t>(number(spec, "i32")));
    }
    parameters.push_back(std::move(parameter));
  }
  std::vector<void *> pointers;
  for (Parameter &parameter : parameters)
    if (parameter.isPassed)
      pointers.push_back(parameter.value.data);
  emu::Program::Request launch;
  launch.kernel = request.getString("kernel").value_or("").str();
  launch.grid = dims(request, "grid");
  launch.block = dims(request, "block");
  launch.dynamicSharedBytes = static_cast<size_t>(number(request, "shared"));
  launch.parameters = pointers.data();
  launch.numParameters = pointers.size();
  rt::Status status = program.launch(launch, memory, options(request));
  if (!status)
    return status.error().message;
  for (const Parameter &parameter : parameters) {
    if (parameter.outputFile.empty())
      continue;
    std::error_code error;
    llvm::raw_fd_ostream file(parameter.outputFile, error);
    file.write(reinterpret_cast<const char *>(parameter.buffer->data), parameter.buffer->size);
    if (error)
      return "cannot write " + parameter.outputFile;
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  const TargetInfo *target = argc == 3 ? findTarget(argv[2]) : findTarget("sm_90a");
  if (argc < 2 || argc > 3 || !target) {
    llvm::errs() << "usage: emulate-kernels MODULE.mlir [TARGET]\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  auto program = emu::Program::create(*module, *target);
  if (!program) {
    llvm::errs() << "emulate-kernels: " << program.error().message << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    llvm::Expected<json::Value> request = json::parse(line);
    std::string fault = "a line is no JSON object";
    if (!request)
      llvm::consumeError(request.takeError());
    else if (const json::Object *object = request->getAsObject())
      fault = run(**program, *object);
    json::Object answer;
    if (fault.empty())
      answer["ok"] = true;
    else
      answer["error"] = fault;
    llvm::outs() << json::Value(std::move(answer)) << "\n";
    llvm::outs().flush();
  }
  return 0;
}
