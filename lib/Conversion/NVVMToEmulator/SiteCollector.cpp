//===- SiteCollector.cpp - Finds and decodes the sites --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SiteCollector.h"

#include "AccumulatorCheck.h"
#include "attn/Conversion/PureIntrinsics.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn;

/// Stack memory that one alloca may take.
static constexpr int64_t kMaxAlloca = 64 << 10;

//===----------------------------------------------------------------------===//
// Plain ops
//===----------------------------------------------------------------------===//

template <typename... Ops> static bool isOneOf(Operation *op) { return isa<Ops...>(op); }

/// Ops that mean the same on the host.
static bool isPlain(Operation *op) {
  using namespace LLVM;
  return isOneOf<AddOp, SubOp, MulOp, AndOp, OrOp, XOrOp, ShlOp, LShrOp, AShrOp, FAddOp, FSubOp,
                 FMulOp, FDivOp, FRemOp, FNegOp, ICmpOp, FCmpOp, SelectOp, FreezeOp>(op) ||
         isOneOf<TruncOp, ZExtOp, SExtOp, FPTruncOp, FPExtOp, SIToFPOp, UIToFPOp, FPToSIOp,
                 FPToUIOp, BitcastOp, AddrSpaceCastOp, IntToPtrOp, PtrToIntOp>(op) ||
         isOneOf<GEPOp, AddressOfOp, ConstantOp, UndefOp, PoisonOp, ZeroOp, ExtractValueOp,
                 InsertValueOp, ExtractElementOp, InsertElementOp, ShuffleVectorOp>(op) ||
         isOneOf<BrOp, CondBrOp, SwitchOp, ReturnOp>(op) ||
         isOneOf<FMAOp, FMulAddOp, MaxNumOp, MinNumOp, MaximumOp, MinimumOp, FAbsOp, SqrtOp,
                 CopySignOp, FFloorOp, FCeilOp, FTruncOp, RintOp, RoundOp, RoundEvenOp, Exp2Op,
                 ExpOp, Log2Op, LogOp, SMaxOp, SMinOp, UMaxOp, UMinOp, AbsOp, CtPopOp,
                 CountLeadingZerosOp, CountTrailingZerosOp, BitReverseOp, ByteSwapOp, FshlOp,
                 FshrOp, UAddSat, USubSat, SAddSat, SSubSat>(op) ||
         isOneOf<AssumeOp, LifetimeStartOp, LifetimeEndOp>(op);
}

/// Nominal cycles of a plain op, for traces: one for each register that a warp computes, none
/// for what is a constant or a renaming.
static unsigned plainCyclesOf(Operation *op) {
  using namespace LLVM;
  if (isOneOf<BitcastOp, AddrSpaceCastOp, IntToPtrOp, PtrToIntOp, FreezeOp, AddressOfOp, ConstantOp,
              UndefOp, PoisonOp, ZeroOp, ExtractValueOp, InsertValueOp, ExtractElementOp,
              InsertElementOp, ShuffleVectorOp, AssumeOp, LifetimeStartOp, LifetimeEndOp, ReturnOp,
              AllocaOp, UnreachableOp>(op))
    return 0;
  if (op->getNumResults() == 1)
    if (auto vector = dyn_cast<VectorType>(op->getResult(0).getType()))
      return vector.getNumElements();
  return 1;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// "file:line:col", or the function's name where the IR says no more.
static std::string locationText(Operation *op) {
  std::string text;
  op->getLoc()->walk([&](Location loc) {
    auto place = dyn_cast<FileLineColLoc>(loc);
    if (!place)
      return WalkResult::advance();
    text = llvm::formatv("{0}:{1}:{2}", place.getFilename().getValue(), place.getLine(),
                         place.getColumn());
    return WalkResult::interrupt();
  });
  if (!text.empty())
    return text;
  auto func = op->getParentOfType<LLVM::LLVMFuncOp>();
  return "an unknown location in @" + func.getSymName().str();
}

unsigned SiteCollector::addSite(Operation *op, std::unique_ptr<emu::Instruction> instruction) {
  emu::Site site;
  site.index = sites.size();
  site.name = emu::InstructionTable::nameOf(op).str();
  site.location = locationText(op);
  site.instruction = std::move(instruction);
  site.order = numOps;
  site.plainCycles = std::exchange(plainCycles, 0);
  sites.push_back(std::move(site));
  return sites.size() - 1;
}

LogicalResult SiteCollector::visitMemory(Operation *op, Value address, emu::AccessKind kind,
                                         Type type, std::optional<uint64_t> alignment) {
  emu::HostSize size = emu::hostSize(type);
  if (size.bytes == 0)
    return op->emitError() << "the emulator has no layout for " << type;
  // A vector of three elements occupies four, but only three are accessed.
  size_t bytes = size.bytes;
  if (auto vector = dyn_cast<VectorType>(type))
    bytes = emu::hostSize(vector.getElementType()).bytes * vector.getNumElements();
  bool isOwnShared = cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() ==
                     static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  auto access =
      std::make_unique<MemoryAccess>(kind, bytes, alignment.value_or(size.alignment), isOwnShared);
  found.push_back({op, SiteKind::Access, addSite(op, std::move(access))});
  return success();
}

/// An intrinsic that the host's code generator knows as well.
static bool isPlainIntrinsic(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && !call.getIntrin().starts_with("llvm.nvvm.") && isPureIntrinsic(call.getIntrin());
}

/// Whether a division traps on the host: not by a constant other than 0 and -1.
static bool mayTrap(Operation *op) {
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() ||
         divisor.isAllOnes();
}

LogicalResult SiteCollector::visit(Operation *op) {
  if (emu::Decoder decoder = emu::InstructionTable::get().lookup(op)) {
    for (Type type : llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                        SmallVector<Type>(op->getResultTypes())))
      if (emu::hostSize(type).bytes == 0)
        return op->emitError() << "the emulator has no layout for " << type;
    FailureOr<std::unique_ptr<emu::Instruction>> instruction = decoder(op);
    if (failed(instruction))
      return failure();
    found.push_back({op, SiteKind::Op, addSite(op, std::move(*instruction))});
    return success();
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return visitMemory(op, load.getAddr(), emu::AccessKind::Read, load.getType(),
                       load.getAlignment());
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return visitMemory(op, store.getAddr(), emu::AccessKind::Write, store.getValue().getType(),
                       store.getAlignment());
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
    return visitMemory(op, atomic.getPtr(), emu::AccessKind::Atomic, atomic.getVal().getType(),
                       atomic.getAlignment());
  if (auto atomic = dyn_cast<LLVM::AtomicCmpXchgOp>(op))
    return visitMemory(op, atomic.getPtr(), emu::AccessKind::Atomic, atomic.getVal().getType(),
                       atomic.getAlignment());
  if (isa<LLVM::UDivOp, LLVM::SDivOp, LLVM::URemOp, LLVM::SRemOp>(op)) {
    if (!op->getResult(0).getType().isInteger())
      return op->emitError() << "the emulator divides scalars only, got "
                             << op->getResult(0).getType();
    if (mayTrap(op))
      found.push_back({op, SiteKind::Division, addSite(op, nullptr)});
    return success();
  }
  if (isa<LLVM::UnreachableOp>(op)) {
    found.push_back({op, SiteKind::Unreachable, addSite(op, nullptr)});
    return success();
  }
  if (auto alloca = dyn_cast<LLVM::AllocaOp>(op)) {
    APInt count;
    int64_t bytes = emu::hostSize(alloca.getElemType()).bytes;
    if (!matchPattern(alloca.getArraySize(), m_ConstantInt(&count)) || bytes <= 0 ||
        count.isNegative() || count.ugt(kMaxAlloca / bytes) || !op->getBlock()->isEntryBlock())
      return op->emitError() << "expected an alloca of at most " << kMaxAlloca
                             << " bytes in the entry block: the emulator's stacks are small";
    allocas.push_back({alloca, bytes * count.getZExtValue()});
    return success();
  }
  if (isa<LLVM::CallOp>(op))
    return op->emitError() << "the emulator runs kernels that call nothing; inline the callee";
  StringRef name = emu::InstructionTable::nameOf(op);
  if (isPlain(op) || isPlainIntrinsic(op))
    return success();
  return op->emitError() << "'" << name << "' has no semantics in the emulator";
}

/// Every value may have a slot in the frame, and so may the operands of its site.
void SiteCollector::countStack(LLVM::LLVMFuncOp func) {
  size_t bytes = 0;
  auto count = [&](Type type) { bytes += 4 * llvm::alignTo(emu::hostSize(type).bytes, 16); };
  for (Block &block : func.getBody())
    llvm::for_each(block.getArgumentTypes(), count);
  func.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), count);
    if (auto alloca = dyn_cast<LLVM::AllocaOp>(op))
      bytes += kMaxAlloca;
  });
  stackBytes = std::max(stackBytes, bytes);
}

/// A branch to a block that does not come later goes round a loop.
void SiteCollector::findLoops(LLVM::LLVMFuncOp func) {
  DenseMap<Block *, unsigned> order;
  for (Block &block : func.getBody())
    order.insert({&block, order.size()});
  for (Block &block : func.getBody())
    for (Block *successor : block.getSuccessors())
      if (order[successor] <= order[&block]) {
        auto [loop, isNew] = loops.insert({successor, 0});
        if (isNew)
          loop->second = addSite(block.getTerminator(), nullptr);
        sites[loop->second].order = branchOrder[block.getTerminator()];
      }
}

LogicalResult SiteCollector::collect(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (!func) {
      if (!isa<LLVM::GlobalOp>(op))
        return op.emitError() << "expected llvm.func and llvm.mlir.global, got '" << op.getName()
                              << "'; lower the module first";
      continue;
    }
    if (func.isExternal())
      continue;
    WalkResult result = func.walk([&](Operation *inner) {
      if (inner == func)
        return WalkResult::advance();
      ++numOps;
      size_t numSites = sites.size();
      if (failed(visit(inner)))
        return WalkResult::interrupt();
      if (sites.size() == numSites)
        plainCycles += plainCyclesOf(inner);
      if (inner->hasTrait<OpTrait::IsTerminator>()) {
        branchOrder[inner] = numOps;
        plainCycles = 0;
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(checkAccumulators(func)))
      return failure();
    findLoops(func);
    countStack(func);
  }
  return success();
}
