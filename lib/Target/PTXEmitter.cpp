//===- PTXEmitter.cpp - LLVM dialect to PTX -------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/PTXEmitter.h"

#include "attn/Target/AttnNVToLLVMIR.h"
#include "attn/Target/ChipRequirements.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

using namespace mlir;
using namespace attn;

static void initializeNVPTX() {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Pointers to shared memory in 32 bits: half the registers of an address. The backend
    // offers that as a command-line option alone; it is the same for every kernel.
    if (llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup("nvptx-short-ptr"))
      static_cast<llvm::cl::opt<bool> *>(option)->setValue(true);
    return true;
  }();
  (void)initialized;
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(ModuleOp module, const llvm::Triple &triple, const PTXOptions &options) {
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    module.emitError() << "the LLVM in use has no NVPTX backend: " << message;
    return nullptr;
  }
  llvm::TargetOptions targetOptions;
  std::string features = "+ptx" + std::to_string(options.ptxVersion);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, options.chip, features, targetOptions, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

namespace {

/// Leaves passes out of the NVPTX backend's fixed pipeline that take a sixth of its time and
/// leave the PTX of our kernels as it is, but for the order of address computations in some: their
/// code is unrolled, its addresses are shared and its memory accesses as wide as can be. Of the two
/// GVN passes the later one finds all that the first would.
class IdlePasses final : public llvm::OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef function) const override {
    static constexpr llvm::StringLiteral idle[] = {
        "consthoist", "early-cse",      "load-store-vectorizer", "nary-reassociate",
        "sroa",       "stack-coloring", "speculative-execution"};
    if (pass == "gvn")
      return !pastFirstGvn.insert(function).second;
    return !llvm::is_contained(idle, pass);
  }

private:
  mutable llvm::StringSet<> pastFirstGvn;
};

} // namespace

/// The program is unrolled scalar code already: a short pipeline gives the code of O3 in a
/// fraction of its time.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager cgsccAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(cgsccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, cgsccAnalyses, moduleAnalyses);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  // A loop that is not rotated makes ptxas copy every accumulator in every turn.
  llvm::LoopPassManager loopPasses;
  loopPasses.addPass(llvm::LoopRotatePass());
  loopPasses.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loopPasses),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functionAnalyses);
}

FailureOr<std::string> attn::emitPTX(ModuleOp module, const PTXOptions &options) {
  if (failed(verifyChip(module, options.chip, options.ptxVersion)))
    return failure();
  initializeNVPTX();
  DialectRegistry registry;
  registerAttnNVDialectTranslation(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);

  // Outlives the context, which refers to it.
  IdlePasses gate;
  llvm::LLVMContext context;
  context.setOptPassGate(gate);
  context.setDiscardValueNames(true);
  // Verifies the result; the code generator's own passes need no check after that.
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return failure();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(module, triple, options);
  if (!machine)
    return failure();
  llvmModule->setTargetTriple(triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  optimize(*llvmModule, *machine);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true)) {
    module.emitError() << "the NVPTX backend of this LLVM cannot emit PTX text";
    return failure();
  }
  codegen.run(*llvmModule);
  return std::string(text);
}
