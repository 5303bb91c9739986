//===- HostCodegen.cpp - Compiles kernels for this machine ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostImage.h"
#include "attn/Conversion/AttnToCPU/AttnToCPU.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Target/HostJit.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

using namespace mlir;
using namespace attn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

unsigned attn::hostVectorWidth() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 16;
  return features.lookup("avx2") ? 8 : 4;
}

const std::string &attn::hostProcessor() {
  static const std::string text = [] {
    std::vector<std::string> features;
    for (const auto &[name, isThere] : llvm::sys::getHostCPUFeatures())
      if (isThere)
        features.push_back(name.str());
    llvm::sort(features);
    return llvm::sys::getDefaultTargetTriple() + " " + llvm::sys::getHostCPUName().str() + " " +
           llvm::join(features, ",");
  }();
  return text;
}

/// The O3 pipeline less what tile loops do not gain from: they are vectors of the right width
/// already, and unrolling them doubles the time to compile for the same speed.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static llvm::Expected<std::string> compile(ModuleOp module) {
  auto context = std::make_unique<llvm::LLVMContext>();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, *context);
  if (!llvmModule)
    return makeError("the module cannot be translated to LLVM IR; run attn-cpu-to-llvm first");

  auto builder = makeHostMachineBuilder();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  optimize(*llvmModule, **machine);
  auto object = llvm::orc::SimpleCompiler(**machine)(*llvmModule);
  if (!object)
    return object.takeError();
  return (*object)->getBuffer().str();
}

static llvm::Expected<HostParameter> describe(Type type) {
  HostParameter parameter;
  llvm::raw_string_ostream(parameter.type) << type;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    parameter.kind = type.isF32() ? HostParameter::Float : HostParameter::Integer;
    return parameter;
  }
  parameter.kind = HostParameter::Tensor;
  parameter.sizes.assign(memref.getShape().begin(), memref.getShape().end());
  int64_t offset;
  if (failed(memref.getStridesAndOffset(parameter.strides, offset)) ||
      (offset != 0 && !ShapedType::isDynamic(offset)))
    return makeError("expected arguments to be strided memrefs at offset 0, got " + parameter.type);
  return parameter;
}

llvm::Expected<std::string> HostKernel::compile(ModuleOp llvmModule) {
  HostImage image;
  ArrayAttr types;
  for (auto func : llvmModule.getOps<LLVM::LLVMFuncOp>()) {
    if (!func->hasAttr(kKernelAttr))
      continue;
    auto own = func->getAttrOfType<ArrayAttr>(kArgumentTypesAttr);
    if (!own || (types && own != types))
      return makeError("kernel '" + func.getSymName() +
                       "' does not say its argument types, or has others than the kernel before "
                       "it; expected kernels that convert-attn-to-cpu made of one function");
    types = own;
    image.kernels.push_back(func.getSymName().str());
  }
  if (image.kernels.empty())
    return makeError("the module has no kernel: expected an llvm.func with the attribute '" +
                     kKernelAttr +
                     "'; run attn-outline-kernels, convert-attn-to-cpu and "
                     "attn-cpu-to-llvm first");
  for (Type type : types.getAsValueRange<TypeAttr>()) {
    auto parameter = describe(type);
    if (!parameter)
      return parameter.takeError();
    image.parameters.push_back(std::move(*parameter));
  }
  auto object = ::compile(llvmModule);
  if (!object)
    return object.takeError();
  image.object = std::move(*object);
  return image.toBytes();
}
