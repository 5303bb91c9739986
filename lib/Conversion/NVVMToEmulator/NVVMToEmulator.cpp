//===- NVVMToEmulator.cpp - L3 programs as host code ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/NVVMToEmulator/NVVMToEmulator.h"

#include "SiteCollector.h"
#include "attn/Conversion/Passes.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <numeric>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_CONVERTNVVMTOEMULATOR
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

static bool isShared(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer &&
         (pointer.getAddressSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared) ||
          pointer.getAddressSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
}

namespace {

/// Rewrites a module whose sites are known.
class Lowering {
public:
  Lowering(ModuleOp module, SiteCollector &collector)
      : module(module), collector(collector), b(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  EmulatorTables run();

private:
  /// Values at the head of a function that its sites use.
  struct Frame {
    Value thread, args, results, sharedBase, region;
  };

  LLVM::LLVMFuncOp declare(StringRef name, ArrayRef<Type> arguments);
  void placeGlobals();
  void buildFrame(LLVM::LLVMFuncOp func);
  void lowerSite(const SiteCollector::Found &found);
  void lowerOp(Operation *op, Value site, const Frame &frame);
  void lowerDivision(Operation *op, Value site, const Frame &frame);
  void lowerPointers(LLVM::LLVMFuncOp func);
  void replaceStruct(Value result, Value buffer);
  void buildEntry(LLVM::LLVMFuncOp func, const EmulatedKernel &kernel);
  void stripAttributes(LLVM::LLVMFuncOp func);
  EmulatedKernel describe(LLVM::LLVMFuncOp func);
  Frame &frameOf(Operation *op) { return frames[op->getParentOfType<LLVM::LLVMFuncOp>()]; }

  Value constant(Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
  }
  Value offset(Location loc, Value base, int64_t bytes) {
    if (bytes == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  void call(Location loc, LLVM::LLVMFuncOp callee, ValueRange arguments) {
    LLVM::CallOp::create(b, loc, callee, arguments);
  }

  ModuleOp module;
  SiteCollector &collector;
  OpBuilder b;
  Type pointer;
  EmulatorTables tables;
  LLVM::LLVMFuncOp opHook, accessHook, checkHook, stepHook, localHook;
  DenseMap<LLVM::LLVMFuncOp, Frame> frames;
  llvm::StringMap<size_t> sharedOffsets;
  size_t argBytes = 8, resultBytes = 8;
};

} // namespace

LLVM::LLVMFuncOp Lowering::declare(StringRef name, ArrayRef<Type> arguments) {
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), arguments);
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Shared globals become offsets: static ones one after the other, then the dynamic ones,
/// which all begin at the same place.
void Lowering::placeGlobals() {
  SmallVector<LLVM::GlobalOp> dynamic;
  size_t sharedAlignment = 16;
  for (auto global : llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
    size_t bytes = emu::hostSize(global.getGlobalType()).bytes;
    if (global.getAddrSpace() != static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared)) {
      tables.globals.push_back({global.getSymName().str(), bytes, global.getConstant()});
      continue;
    }
    size_t alignment = std::max<size_t>(global.getAlignment().value_or(1),
                                        emu::hostSize(global.getGlobalType()).alignment);
    sharedAlignment = std::max(sharedAlignment, alignment);
    if (bytes == 0) {
      dynamic.push_back(global);
      continue;
    }
    tables.staticSharedBytes = llvm::alignTo(tables.staticSharedBytes, alignment);
    sharedOffsets[global.getSymName()] = tables.staticSharedBytes;
    tables.staticSharedBytes += bytes;
    global.erase();
  }
  if (dynamic.empty())
    return;
  tables.staticSharedBytes = llvm::alignTo(tables.staticSharedBytes, sharedAlignment);
  for (LLVM::GlobalOp global : dynamic) {
    sharedOffsets[global.getSymName()] = tables.staticSharedBytes;
    global.erase();
  }
}

/// Shared addresses of 32 bits and host pointers: one is the low half of the other.
void Lowering::lowerPointers(LLVM::LLVMFuncOp func) {
  const Frame &frame = frames[func];
  func.walk([&](Operation *op) {
    b.setInsertionPointAfter(op);
    Location loc = op->getLoc();
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
      auto it = sharedOffsets.find(address.getGlobalName());
      if (it == sharedOffsets.end())
        return;
      op->getResult(0).replaceAllUsesWith(offset(loc, frame.sharedBase, it->second));
      op->erase();
    } else if (isa<LLVM::IntToPtrOp>(op) && isShared(op->getResult(0).getType())) {
      Type i64 = b.getI64Type();
      Value bits = op->getOperand(0);
      unsigned width = bits.getType().getIntOrFloatBitWidth();
      if (width < 64)
        bits = LLVM::ZExtOp::create(b, loc, i64, bits);
      else
        bits = LLVM::AndOp::create(b, loc, bits, constant(loc, i64, 0xffffffff));
      Value whole = LLVM::OrOp::create(b, loc, bits, frame.region);
      Value result = LLVM::IntToPtrOp::create(b, loc, op->getResult(0).getType(), whole);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    } else if (isa<LLVM::PtrToIntOp>(op) && isShared(op->getOperand(0).getType()) &&
               op->getResult(0).getType().getIntOrFloatBitWidth() > 32) {
      Value bits = op->getResult(0);
      Value mask = constant(loc, bits.getType(), 0xffffffff);
      auto masked = LLVM::AndOp::create(b, loc, bits, mask);
      bits.replaceAllUsesExcept(masked, masked);
    }
  });
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

void Lowering::buildFrame(LLVM::LLVMFuncOp func) {
  Location loc = func.getLoc();
  func.getBody().insertArgument(0u, pointer, loc);
  // Parameters by value are addresses now; a host would look for them on the stack.
  func.removeArgAttrsAttr();
  LLVM::LLVMFunctionType type = func.getFunctionType();
  func.setFunctionType(LLVM::LLVMFunctionType::get(
      type.getReturnType(), SmallVector<Type>(func.getBody().getArgumentTypes())));
  b.setInsertionPointToStart(&func.getBody().front());
  Type i8 = b.getI8Type(), i64 = b.getI64Type();
  Frame &frame = frames[func];
  frame.thread = func.getArgument(0);
  auto buffer = [&](size_t bytes) {
    return LLVM::AllocaOp::create(b, loc, pointer, i8, constant(loc, i64, bytes),
                                  /*alignment=*/16);
  };
  frame.args = buffer(argBytes);
  frame.results = buffer(resultBytes);
  auto shared = LLVM::LLVMPointerType::get(b.getContext(),
                                           static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  frame.sharedBase = LLVM::LoadOp::create(
      b, loc, shared, offset(loc, frame.thread, offsetof(emu::ThreadHeader, sharedBase)));
  frame.region = LLVM::LoadOp::create(
      b, loc, i64, offset(loc, frame.thread, offsetof(emu::ThreadHeader, region)));
}

/// Members of a struct that are taken out one by one are loaded one by one: machine code of
/// whole structs is slow to make.
void Lowering::replaceStruct(Value result, Value buffer) {
  auto type = cast<LLVM::LLVMStructType>(result.getType());
  Location loc = result.getLoc();
  SmallVector<size_t> offsets;
  size_t bytes = 0;
  for (Type member : type.getBody()) {
    emu::HostSize size = emu::hostSize(member);
    bytes = type.isPacked() ? bytes : llvm::alignTo(bytes, size.alignment);
    offsets.push_back(bytes);
    bytes += size.bytes;
  }
  SmallVector<Value> members(offsets.size());
  for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
    auto extract = dyn_cast<LLVM::ExtractValueOp>(user);
    if (!extract || extract.getPosition().size() != 1)
      continue;
    Value &member = members[extract.getPosition()[0]];
    if (!member)
      member = LLVM::LoadOp::create(b, loc, extract.getType(),
                                    offset(loc, buffer, offsets[extract.getPosition()[0]]));
    extract.replaceAllUsesWith(member);
    extract.erase();
  }
  if (!result.use_empty())
    result.replaceAllUsesWith(LLVM::LoadOp::create(b, loc, type, buffer));
}

void Lowering::lowerOp(Operation *op, Value site, const Frame &frame) {
  Location loc = op->getLoc();
  emu::ValueLayout args(op->getOperandTypes()), results(op->getResultTypes());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    LLVM::StoreOp::create(b, loc, operand, offset(loc, frame.args, args.offset(i)),
                          /*alignment=*/8);
  call(loc, opHook, {frame.thread, site, frame.args, frame.results});
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (result.use_empty())
      continue;
    Value buffer = offset(loc, frame.results, results.offset(i));
    if (isa<LLVM::LLVMStructType>(result.getType()))
      replaceStruct(result, buffer);
    else
      result.replaceAllUsesWith(
          LLVM::LoadOp::create(b, loc, result.getType(), buffer, /*alignment=*/8));
  }
  op->erase();
}

/// The host traps where the GPU gives some number: check before.
void Lowering::lowerDivision(Operation *op, Value site, const Frame &frame) {
  Location loc = op->getLoc();
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  auto equals = [&](Value value, const APInt &constant) {
    Value other = LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, constant));
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, value, other);
  };
  unsigned width = type.getIntOrFloatBitWidth();
  Value fails = equals(divisor, APInt::getZero(width));
  if (isa<LLVM::SDivOp, LLVM::SRemOp>(op)) {
    Value overflows = LLVM::AndOp::create(b, loc, equals(divisor, APInt::getAllOnes(width)),
                                          equals(dividend, APInt::getSignedMinValue(width)));
    fails = LLVM::OrOp::create(b, loc, fails, overflows);
  }
  call(loc, checkHook, {frame.thread, site, LLVM::ZExtOp::create(b, loc, b.getI8Type(), fails)});
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

EmulatedKernel Lowering::describe(LLVM::LLVMFuncOp func) {
  EmulatedKernel kernel;
  kernel.name = func.getSymName().str();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto value = func.getArgAttrOfType<TypeAttr>(i, LLVM::LLVMDialect::getByValAttrName());
    kernel.parameters.push_back({emu::hostSize(value ? value.getValue() : type).bytes, !!value});
  }
  auto product = [&](StringRef name) -> unsigned {
    auto dims = func->getAttrOfType<DenseI32ArrayAttr>(name);
    return dims ? std::accumulate(dims.asArrayRef().begin(), dims.asArrayRef().end(), 1u,
                                  std::multiplies<unsigned>())
                : 0;
  };
  kernel.maxThreads = product(NVVM::NVVMDialect::getMaxntidAttrName());
  if (unsigned required = product(NVVM::NVVMDialect::getReqntidAttrName())) {
    kernel.maxThreads = required;
    kernel.exactThreads = true;
  }
  if (auto ctas = func->getAttrOfType<IntegerAttr>(NVVM::NVVMDialect::getMinctasmAttrName()))
    kernel.minCtas = ctas.getInt();
  if (auto dims =
          func->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getClusterDimAttrName())) {
    unsigned *fields[] = {&kernel.cluster.x, &kernel.cluster.y, &kernel.cluster.z};
    for (auto [field, size] : llvm::zip(fields, dims.asArrayRef()))
      *field = size;
  }
  return kernel;
}

/// The entry loads the parameters of a kernel, which is a plain host function now.
void Lowering::buildEntry(LLVM::LLVMFuncOp func, const EmulatedKernel &kernel) {
  Location loc = func.getLoc();
  LLVM::LLVMFuncOp entry =
      declare((kEmulatorEntryPrefix + func.getSymName()).str(), {pointer, pointer});
  b.setInsertionPointToStart(entry.addEntryBlock(b));
  SmallVector<Value> arguments{entry.getArgument(0)};
  for (auto [i, argument] : llvm::enumerate(func.getArguments().drop_front())) {
    Value slot = LLVM::LoadOp::create(b, loc, pointer, offset(loc, entry.getArgument(1), 8 * i));
    // What is passed by value stays in the launch's memory.
    if (!kernel.parameters[i].byValue)
      slot = LLVM::LoadOp::create(b, loc, argument.getType(), slot);
    else if (argument.getType() != pointer)
      slot = LLVM::AddrSpaceCastOp::create(b, loc, argument.getType(), slot);
    arguments.push_back(slot);
  }
  call(loc, func, arguments);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

EmulatorTables Lowering::run() {
  Type i32 = b.getI32Type();
  opHook = declare(kEmulatorOp, {pointer, i32, pointer, pointer});
  accessHook = declare(kEmulatorAccess, {pointer, i32, pointer, pointer});
  checkHook = declare(kEmulatorCheck, {pointer, i32, b.getI8Type()});
  stepHook = declare(kEmulatorStep, {pointer, i32});
  localHook = declare(kEmulatorLocal, {pointer, pointer, b.getI64Type()});
  placeGlobals();
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      functions.push_back(func);
  for (const SiteCollector::Found &found : collector.found)
    if (auto store = dyn_cast<LLVM::StoreOp>(found.op)) {
      argBytes = std::max(argBytes, emu::hostSize(store.getValue().getType()).bytes);
    } else if (found.kind == SiteKind::Op) {
      argBytes = std::max(argBytes, emu::ValueLayout(found.op->getOperandTypes()).bytes());
      resultBytes = std::max(resultBytes, emu::ValueLayout(found.op->getResultTypes()).bytes());
    }
  for (LLVM::LLVMFuncOp func : functions) {
    if (func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      tables.kernels.push_back(describe(func));
    buildFrame(func);
    lowerPointers(func);
  }
  for (const SiteCollector::Found &found : collector.found)
    lowerSite(found);
  for (auto [alloca, bytes] : collector.allocas) {
    b.setInsertionPointAfter(alloca);
    Location loc = alloca.getLoc();
    Value address = alloca.getRes();
    if (address.getType() != pointer)
      address = LLVM::AddrSpaceCastOp::create(b, loc, pointer, address);
    call(loc, localHook, {frameOf(alloca).thread, address, constant(loc, b.getI64Type(), bytes)});
  }
  for (auto [block, site] : collector.loops) {
    b.setInsertionPointToStart(block);
    Operation *branch = block->getParentOp();
    call(branch->getLoc(), stepHook,
         {frameOf(block->getTerminator()).thread, constant(branch->getLoc(), i32, site)});
  }
  for (LLVM::LLVMFuncOp func : functions) {
    stripAttributes(func);
    for (const EmulatedKernel &kernel : tables.kernels)
      if (kernel.name == func.getSymName())
        buildEntry(func, kernel);
  }
  module->setAttrs(b.getDictionaryAttr({}));
  tables.sites = std::move(collector.sites);
  tables.stackBytes = collector.stackBytes + argBytes + resultBytes;
  return std::move(tables);
}

/// What the attributes said to the GPU's back end means nothing, or something else, here.
void Lowering::stripAttributes(LLVM::LLVMFuncOp func) {
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : func->getDiscardableAttrs())
    names.push_back(attribute.getName());
  for (StringAttr name : names)
    func->removeDiscardableAttr(name);
}

void Lowering::lowerSite(const SiteCollector::Found &found) {
  const Frame &frame = frameOf(found.op);
  Location loc = found.op->getLoc();
  b.setInsertionPoint(found.op);
  Value site = constant(loc, b.getI32Type(), found.site);
  switch (found.kind) {
  case SiteKind::Op:
    return lowerOp(found.op, site, frame);
  case SiteKind::Division:
    return lowerDivision(found.op, site, frame);
  case SiteKind::Unreachable:
    return call(loc, checkHook, {frame.thread, site, constant(loc, b.getI8Type(), 1)});
  case SiteKind::Access: {
    Value address = found.op->getOperand(isa<LLVM::StoreOp>(found.op) ? 1 : 0);
    if (address.getType() != pointer)
      address = LLVM::AddrSpaceCastOp::create(b, loc, pointer, address);
    if (auto store = dyn_cast<LLVM::StoreOp>(found.op))
      LLVM::StoreOp::create(b, loc, store.getValue(), frame.args, /*alignment=*/8);
    return call(loc, accessHook, {frame.thread, site, address, frame.args});
  }
  }
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<EmulatorTables> attn::convertNVVMToEmulator(ModuleOp module) {
  SiteCollector collector;
  if (failed(collector.collect(module)))
    return failure();
  return Lowering(module, collector).run();
}

namespace {

struct ConvertNVVMToEmulator : attn::impl::ConvertNVVMToEmulatorBase<ConvertNVVMToEmulator> {
  void runOnOperation() override {
    if (failed(convertNVVMToEmulator(getOperation())))
      signalPassFailure();
  }
};

} // namespace
