//===- AttnNVToLLVMIR.cpp - Instructions as inline assembly ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place of attn that writes PTX. It works on the way from MLIR to LLVM IR,
// so that no program in MLIR holds assembly text: the emulator runs the same ops.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/AttnNVToLLVMIR.h"

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <llvm/ADT/TypeSwitch.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <mlir/Target/LLVMIR/LLVMTranslationInterface.h>
#include <mlir/Target/LLVMIR/ModuleTranslation.h>

using namespace mlir;
using namespace attn;
using namespace attn::nv;

namespace {

/// One inline assembly call: outputs, then inputs, numbered in the order of their adding.
class Assembly {
public:
  Assembly(llvm::IRBuilderBase &builder, LLVM::ModuleTranslation &translation)
      : builder(builder), translation(translation) {}

  /// The register of a result, as "$3". All outputs are added before any input.
  std::string output(Value result) {
    constraints.push_back(("=" + letter(result.getType())).str());
    results.push_back(result);
    return next();
  }

  /// The register of an operand.
  std::string input(Value operand) {
    constraints.push_back(letter(operand.getType()).str());
    operands.push_back(translation.lookupValue(operand));
    return next();
  }

  /// An operand that shares the register of output `index`.
  void tied(Value operand, unsigned index) {
    constraints.push_back(std::to_string(index));
    operands.push_back(translation.lookupValue(operand));
    next();
  }

  void emit(const std::string &text) {
    llvm::SmallVector<llvm::Type *> resultTypes, operandTypes;
    for (Value result : results)
      resultTypes.push_back(translation.convertType(result.getType()));
    for (llvm::Value *operand : operands)
      operandTypes.push_back(operand->getType());
    llvm::Type *type = resultTypes.empty() ? builder.getVoidTy()
                       : resultTypes.size() == 1
                           ? resultTypes.front()
                           : llvm::StructType::get(builder.getContext(), resultTypes);
    constraints.push_back("~{memory}");
    auto *assembly =
        llvm::InlineAsm::get(llvm::FunctionType::get(type, operandTypes, /*isVarArg=*/false), text,
                             llvm::join(constraints, ","), /*hasSideEffects=*/true);
    llvm::CallInst *call = builder.CreateCall(assembly, operands);
    // Threads of a warp execute these together; no branch may come between them.
    call->addFnAttr(llvm::Attribute::Convergent);
    call->addFnAttr(llvm::Attribute::NoUnwind);
    if (results.size() == 1)
      translation.mapValue(results.front(), call);
    else
      for (auto [index, result] : llvm::enumerate(results))
        translation.mapValue(result,
                             builder.CreateExtractValue(call, static_cast<unsigned>(index)));
  }

private:
  static StringRef letter(Type type) {
    if (type.isF32())
      return "f";
    if (type.isInteger(1))
      return "b";
    // Pointers to shared memory have 32 bits, those to global memory 64.
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
    bool isLong = pointer ? pointer.getAddressSpace() <= 1 : type.isInteger(64);
    return isLong ? "l" : "r";
  }
  std::string next() { return "$" + std::to_string(count++); }

  llvm::IRBuilderBase &builder;
  LLVM::ModuleTranslation &translation;
  llvm::SmallVector<std::string> constraints;
  llvm::SmallVector<Value> results;
  llvm::SmallVector<llvm::Value *> operands;
  unsigned count = 0;
};

} // namespace

/// "{$0, $1}".
static std::string braced(ArrayRef<std::string> registers) {
  return "{" + llvm::join(registers, ", ") + "}";
}

/// How PTX calls an element type.
static StringRef ptxType(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case<Float16Type>([](auto) { return "f16"; })
      .Case<BFloat16Type>([](auto) { return "bf16"; })
      .Case<Float8E4M3FNType>([](auto) { return "e4m3"; })
      .Case<Float8E5M2Type>([](auto) { return "e5m2"; })
      .Case<Float32Type>([](auto) { return "f32"; })
      .Default([](Type) { return "s32"; });
}

static void emitWgmma(WgmmaOp op, Assembly &assembly) {
  llvm::SmallVector<std::string> d, a;
  for (Value result : op.getD())
    d.push_back(assembly.output(result));
  for (auto [index, value] : llvm::enumerate(op.getAcc()))
    assembly.tied(value, static_cast<unsigned>(index));
  std::string operandA;
  if (op.getADesc()) {
    operandA = assembly.input(op.getADesc());
  } else {
    for (Value value : op.getARegisters())
      a.push_back(assembly.input(value));
    operandA = braced(a);
  }
  std::string operandB = assembly.input(op.getBDesc());

  std::string text;
  llvm::raw_string_ostream os(text);
  std::string scale = "scale";
  if (op.getScaleD())
    scale = assembly.input(op.getScaleD());
  else
    os << "{ .reg .pred scale; setp.ne.b32 scale, " << (op.getAcc().empty() ? 0 : 1) << ", 0; ";
  os << "wgmma.mma_async.sync.aligned.m64n" << op.getN() << "k" << op.getK() << ".f32."
     << ptxType(op.getTypeA()) << "." << ptxType(op.getTypeB()) << " " << braced(d) << ", "
     << operandA << ", " << operandB << ", " << scale;
  // Neither operand is negated; the majors exist for 16-bit elements alone.
  os << ", 1, 1";
  if (op.getK() == 16 && op.getADesc())
    os << ", " << int(op.getTransposeA());
  if (op.getK() == 16)
    os << ", " << int(op.getTransposeB());
  os << (op.getScaleD() ? ";" : "; }");
  assembly.emit(text);
}

/// An instruction without operands that passes values through.
static void emitTied(ValueRange results, ValueRange values, const std::string &text,
                     Assembly &assembly) {
  for (Value result : results)
    assembly.output(result);
  for (auto [index, value] : llvm::enumerate(values))
    assembly.tied(value, static_cast<unsigned>(index));
  assembly.emit(text);
}

static void emitMBarrierArrive(MBarrierArriveOp op, Assembly &assembly) {
  auto pointer = cast<LLVM::LLVMPointerType>(op.getBarrier().getType());
  bool remote = pointer.getAddressSpace() != NVVM::NVVMMemorySpace::Shared;
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string barrier = assembly.input(op.getBarrier());
  std::string bytes = op.getExpectTx() ? ", " + assembly.input(op.getExpectTx()) : "";
  if (op.getPredicate())
    os << "@" << assembly.input(op.getPredicate()) << " ";
  os << "mbarrier.arrive" << (op.getExpectTx() ? ".expect_tx" : "")
     << (remote ? ".release.cluster.shared::cluster" : ".release.cta.shared::cta") << ".b64 _, ["
     << barrier << "]" << bytes << ";";
  assembly.emit(text);
}

static void emitMBarrierWait(MBarrierWaitOp op, Assembly &assembly) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string barrier = assembly.input(op.getBarrier());
  std::string parity = assembly.input(op.getParity());
  os << "{ .reg .pred done; wait: mbarrier.try_wait.parity"
     << (op.getCluster() ? ".acquire.cluster" : ".acquire.cta") << ".shared::cta.b64 done, ["
     << barrier << "], " << parity << "; @!done bra wait; }";
  assembly.emit(text);
}

static void emitBulkReduce(BulkReduceOp op, Assembly &assembly) {
  StringRef type = ptxType(op.getElementType());
  // The 16-bit additions must name what they do with subnormals.
  StringRef noftz = type == "f16" || type == "bf16" ? ".noftz" : "";
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string dest = assembly.input(op.getDest());
  std::string source = assembly.input(op.getSource());
  std::string bytes = assembly.input(op.getBytes());
  os << "cp.reduce.async.bulk.global.shared::cta.bulk_group.add" << noftz << "." << type << " ["
     << dest << "], [" << source << "], " << bytes << ";";
  assembly.emit(text);
}

namespace {

struct AttnNVTranslation : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult convertOperation(Operation *op, llvm::IRBuilderBase &builder,
                                 LLVM::ModuleTranslation &translation) const final {
    Assembly assembly(builder, translation);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](WgmmaOp op) { emitWgmma(op, assembly); })
        .Case([&](WgmmaFenceOp op) {
          emitTied(op.getTied(), op.getOperands(), "wgmma.fence.sync.aligned;", assembly);
        })
        .Case([&](WgmmaWaitOp op) {
          emitTied(op.getTied(), op.getAcc(),
                   "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";",
                   assembly);
        })
        .Case([&](MBarrierArriveOp op) { emitMBarrierArrive(op, assembly); })
        .Case([&](MBarrierWaitOp op) { emitMBarrierWait(op, assembly); })
        .Case([&](BarrierArriveOp op) {
          builder.CreateIntrinsic(
              llvm::Intrinsic::nvvm_barrier_cta_arrive_aligned_count, {},
              {translation.lookupValue(op.getId()), translation.lookupValue(op.getThreads())});
        })
        .Case([&](BulkReduceOp op) { emitBulkReduce(op, assembly); })
        .DefaultUnreachable("an attn_nv op without PTX");
    return success();
  }
};

} // namespace

void attn::registerAttnNVDialectTranslation(DialectRegistry &registry) {
  registry.insert<AttnNVDialect>();
  registry.addExtension(
      +[](MLIRContext *, AttnNVDialect *dialect) { dialect->addInterfaces<AttnNVTranslation>(); });
}
