//===- Registration.cpp - Dialects and passes by name ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Registration.h"

#include "CheckStage.h"
#include "attn/Conversion/AttnToCPU/AttnToCPU.h"
#include "attn/Conversion/AttnToNVVM/AttnToNVVM.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"
#include "attn/Dispatch/Passes.h"
#include "attn/Pipelines/Pipelines.h"

#include <mlir/Pass/PassOptions.h>
#include <mlir/Transforms/Passes.h>

using namespace mlir;
using namespace attn;

void attn::registerDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                  nv::AttnNVDialect, scf::SCFDialect, vector::VectorDialect>();
}

void attn::registerPasses() {
  registerAttnPasses();
  registerAttnDispatchPasses();
  registerAttnConversionPasses();
  registerCPUToLLVMPipeline();
  registerGPUToLLVMPipeline();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
}

namespace {

/// PipelineOptions as text after a pipeline's name.
struct RegisteredOptions : PassPipelineOptions<RegisteredOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu, sm_80, ..."),
                             llvm::cl::init("cpu")};
  Option<unsigned> vectorWidth{*this, "vector-width",
                               llvm::cl::desc("f32 elements in a vector register of the cpu: 4, "
                                              "8 or 16 (default: what the host has)"),
                               llvm::cl::init(0)};
};

/// Fails with a message: a pipeline's builder has no way to.
struct RefuseTarget : PassWrapper<RefuseTarget, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseTarget)
  explicit RefuseTarget(StringRef target) : target(target.str()) {}
  void runOnOperation() override {
    emitError(getOperation().getLoc()) << unknownTargetMessage(target);
    signalPassFailure();
  }
  std::string target;
};

using BuildFn = llvm::function_ref<void(const PipelineOptions &, const TargetInfo &)>;

void withTarget(OpPassManager &pm, const RegisteredOptions &registered, BuildFn build) {
  PipelineOptions options{registered.target, registered.vectorWidth};
  if (const TargetInfo *target = findTarget(options.target))
    build(options, *target);
  else
    pm.addPass(std::make_unique<RefuseTarget>(options.target));
}

} // namespace

void attn::registerPipelines(const std::string *dumpDirectory) {
  for (Stage stage : allStages())
    PassPipelineRegistration<RegisteredOptions>(
        ("attn-stage-" + stageName(stage)).str(), "the passes of one stage of attn-pipeline",
        [stage](OpPassManager &pm, const RegisteredOptions &registered) {
          withTarget(pm, registered, [&](const PipelineOptions &options, const TargetInfo &target) {
            pm.addPass(createCheckStagePass(stage, target));
            buildStage(pm, stage, options, target);
          });
        });
  PassPipelineRegistration<RegisteredOptions>(
      "attn-pipeline", "from the problem to the LLVM dialect",
      [dumpDirectory](OpPassManager &pm, const RegisteredOptions &registered) {
        withTarget(pm, registered, [&](const PipelineOptions &options, const TargetInfo &target) {
          pm.addPass(createCheckStagePass(Stage::Normalize, target));
          buildPipeline(pm, options, target, dumpDirectory ? *dumpDirectory : StringRef());
        });
      });
}
