//===- Program.cpp - L3 programs that run on the host ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Program.h"

#include "Semantics/Numbers.h"
#include "attn/Conversion/NVVMToEmulator/NVVMToEmulator.h"
#include "attn/Target/ChipRequirements.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

using namespace mlir;
using namespace attn;
using namespace attn::emu;

struct Program::State {
  const TargetInfo *target = nullptr;
  EmulatorTables tables;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<ThreadFunction> entries;
  std::vector<std::byte *> globals; ///< Where each of the tables' is.
};

Program::Program(std::unique_ptr<State> state) : state(std::move(state)) {}
Program::~Program() = default;

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

static Thread &threadOf(ThreadHeader *header) { return *static_cast<Thread *>(header); }

static const Site &siteOf(Thread &thread, uint32_t site) { return thread.launch().sites[site]; }

static void callOp(ThreadHeader *header, uint32_t site, const std::byte *args, std::byte *results) {
  Thread &thread = threadOf(header);
  thread.launch().execute(thread, siteOf(thread, site), args, results);
}

static void callAccess(ThreadHeader *header, uint32_t number, const void *address,
                       const std::byte *value) {
  Thread &thread = threadOf(header);
  const Site &site = siteOf(thread, number);
  const auto &access = static_cast<const MemoryAccess &>(*site.instruction);
  thread.launch().access(thread, site, [&] {
    if (!access.isOwnShared || thread.ownSharedAt(address))
      thread.access(access.kind, address, access.bytes, access.alignment,
                    access.kind == AccessKind::Write ? value : nullptr);
  });
}

static void callStep(ThreadHeader *header, uint32_t site) {
  Thread &thread = threadOf(header);
  thread.launch().step(thread, siteOf(thread, site));
  if (Listener *watcher = thread.listener())
    watcher->looped(thread, siteOf(thread, site));
}

static void callLocal(ThreadHeader *header, const std::byte *address, uint64_t bytes) {
  threadOf(header).addLocal(address, bytes);
}

static void callCheck(ThreadHeader *header, uint32_t number, uint8_t failed) {
  if (failed == 0)
    return;
  Thread &thread = threadOf(header);
  thread.launch().fail(thread, siteOf(thread, number),
                       "reached with operands for which its result is undefined");
}

// The host's code generator calls these for conversions that the processor lacks. A 16-bit
// number travels in the low half of a floating-point register, as a float of those bits does.
static float truncateToBF16(float value) { return std::bit_cast<float>(uint32_t(toBF16(value))); }
static float truncateToF16(float value) { return std::bit_cast<float>(uint32_t(toF16(value))); }
static float extendF16(float bits) {
  return fromF16(static_cast<uint16_t>(std::bit_cast<uint32_t>(bits)));
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static llvm::Error defineHooks(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  define(kEmulatorOp, &callOp);
  define(kEmulatorAccess, &callAccess);
  define(kEmulatorStep, &callStep);
  define(kEmulatorCheck, &callCheck);
  define(kEmulatorLocal, &callLocal);
  define("__truncsfbf2", &truncateToBF16);
  define("__truncsfhf2", &truncateToF16);
  define("__extendhfsf2", &extendF16);
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

/// Code runs once and slowly anyway: no optimization.
static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> compile(ModuleOp module) {
  static const bool initialized = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  if (!initialized)
    return llvm::createStringError("LLVM was built without a code generator for this machine");
  auto context = std::make_unique<llvm::LLVMContext>();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, *context);
  if (!llvmModule)
    return llvm::createStringError("the module cannot be translated to LLVM IR");
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit)
    return jit.takeError();
  llvmModule->setDataLayout((*jit)->getDataLayout());
  llvmModule->setTargetTriple((*jit)->getTargetTriple());
  if (llvm::Error error = defineHooks(**jit))
    return std::move(error);
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(llvmModule), std::move(context))))
    return std::move(error);
  return jit;
}

static tl::unexpected<rt::Error> internal(llvm::Error error) {
  return rt::fail(rt::ErrorCode::Internal, llvm::toString(std::move(error)));
}

rt::Expected<std::unique_ptr<Program>> Program::create(ModuleOp module, const TargetInfo &target) {
  if (failed(verifyChip(module, target.name)))
    return rt::fail(rt::ErrorCode::BadInput, "the program has ops that " + target.name + " lacks");
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<EmulatorTables> tables = convertNVVMToEmulator(*copy);
  if (failed(tables))
    return rt::fail(rt::ErrorCode::BadInput, "the program has ops that the emulator cannot run");
  auto state = std::make_unique<State>();
  state->target = &target;
  state->tables = std::move(*tables);
  auto jit = compile(*copy);
  if (!jit)
    return internal(jit.takeError());
  state->jit = std::move(*jit);
  for (const EmulatedKernel &kernel : state->tables.kernels) {
    auto address = state->jit->lookup((kEmulatorEntryPrefix + kernel.name).str());
    if (!address)
      return internal(address.takeError());
    state->entries[kernel.name] = address->toPtr<ThreadFunction>();
  }
  for (const EmulatorTables::Global &global : state->tables.globals) {
    auto address = state->jit->lookup(global.name);
    if (!address)
      return internal(address.takeError());
    state->globals.push_back(address->toPtr<std::byte *>());
  }
  return std::unique_ptr<Program>(new Program(std::move(state)));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static rt::Status check(const TargetInfo &target, const Program::Request &request,
                        const EmulatedKernel &kernel, size_t sharedBytes,
                        std::optional<uint64_t> onlyCta) {
  auto refuseAs = [&](rt::ErrorCode code, const llvm::Twine &message) {
    return rt::fail(code, ("kernel '" + kernel.name + "': " + message).str());
  };
  auto refuse = [&](const llvm::Twine &message) { return refuseAs(request.faultCode, message); };
  if (request.numParameters != kernel.parameters.size())
    return refuse("expected " + llvm::Twine(kernel.parameters.size()) + " parameters, got " +
                  llvm::Twine(request.numParameters));
  uint64_t threads = request.block.count();
  if (threads == 0 || threads > static_cast<uint64_t>(target.maxThreadsPerCta))
    return refuse("expected 1 to " + llvm::Twine(target.maxThreadsPerCta) + " threads a CTA on " +
                  target.name + ", got " + llvm::Twine(threads));
  if (kernel.maxThreads != 0 &&
      (threads > kernel.maxThreads || (kernel.exactThreads && threads != kernel.maxThreads)))
    return refuse(llvm::Twine("expected ") + (kernel.exactThreads ? "" : "at most ") +
                  llvm::Twine(kernel.maxThreads) + " threads a CTA, got " + llvm::Twine(threads));
  if (sharedBytes > static_cast<size_t>(target.sharedBytesPerCta))
    return refuse("expected at most " + llvm::Twine(target.sharedBytesPerCta) +
                  " bytes of shared memory a CTA on " + target.name + ", got " +
                  llvm::Twine(sharedBytes));
  if (request.grid.count() == 0)
    return refuse("expected a grid of at least one CTA");
  if (onlyCta && *onlyCta >= request.grid.count())
    return refuseAs(rt::ErrorCode::BadInput, "expected a CTA in [0, " +
                                                 llvm::Twine(request.grid.count() - 1) + "], got " +
                                                 llvm::Twine(*onlyCta));
  if (uint64_t ctas = kernel.cluster.count(); ctas < 1 || ctas > 16)
    return refuse("expected clusters of 1 to 16 CTAs, got " + llvm::Twine(ctas));
  if (request.grid.x % kernel.cluster.x || request.grid.y % kernel.cluster.y ||
      request.grid.z % kernel.cluster.z)
    return refuse(llvm::formatv("expected a grid of whole clusters of {0} x {1} x {2} CTAs, got "
                                "{3} x {4} x {5}",
                                kernel.cluster.x, kernel.cluster.y, kernel.cluster.z,
                                request.grid.x, request.grid.y, request.grid.z)
                      .str());
  return {};
}

/// Of a thread, where the assembler gives a CTA its whole share.
static unsigned registersOf(const TargetInfo &target, const EmulatedKernel &kernel,
                            uint64_t threads) {
  // Registers come in units of eight; 255 of a thread's 256 have names.
  uint64_t ctas = std::max(kernel.minCtas, 1u), most = target.maxRegistersPerThread + 1;
  return std::min<uint64_t>(most, target.registersPerSM / ctas / threads / 8 * 8);
}

static rt::ErrorCode codeOf(ReportKind kind, const Program::Request &request) {
  switch (kind) {
  case ReportKind::NoMemory:
    return rt::ErrorCode::Unavailable;
  case ReportKind::TooManySteps:
    // The options set the limit, and a right program of a large problem meets it too.
    return rt::ErrorCode::BadInput;
  default:
    return request.faultCode;
  }
}

rt::Status Program::launch(const Request &request, GlobalMemory memory,
                           const LaunchOptions &options) const {
  const EmulatorTables &tables = state->tables;
  auto kernel = llvm::find_if(tables.kernels, [&](const EmulatedKernel &candidate) {
    return candidate.name == request.kernel;
  });
  if (kernel == tables.kernels.end())
    return rt::fail(request.faultCode, "the program has no kernel '" + request.kernel + "'");
  size_t sharedBytes = tables.staticSharedBytes + request.dynamicSharedBytes;
  if (rt::Status status = check(*state->target, request, *kernel, sharedBytes, options.onlyCta);
      !status)
    return status;
  for (auto [global, address] : llvm::zip(tables.globals, state->globals)) {
    if (global.isConstant)
      memory.addReadOnly("@" + global.name, address, global.bytes);
    else
      memory.addBytes("@" + global.name, address, global.bytes);
  }
  for (const auto &[i, parameter] : llvm::enumerate(kernel->parameters))
    if (parameter.byValue)
      memory.addReadOnly("parameter " + std::to_string(i), request.parameters[i], parameter.bytes);
  LaunchShape shape{request.grid,
                    request.block,
                    kernel->cluster,
                    sharedBytes,
                    registersOf(*state->target, *kernel, request.block.count()),
                    tables.stackBytes};
  Launch launch(tables.sites, shape, options, memory);
  if (std::optional<Report> report =
          launch.run(state->entries.lookup(kernel->name), request.parameters))
    return rt::fail(codeOf(report->kind, request), std::move(report->message));
  return {};
}
