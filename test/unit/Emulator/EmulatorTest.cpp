//===- EmulatorTest.cpp - Runs small L3 programs --------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/Parser/Parser.h>

using namespace attn;
using namespace attn::test;
using namespace mlir;

/// One line, so that the body's first line is line 2 less one.
static constexpr const char *kHead =
    "llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : "
    "!llvm.array<0 x i8> llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel} { "
    "%smem = llvm.mlir.addressof @smem : !llvm.ptr<3> "
    "%c0 = llvm.mlir.constant(0 : i32) : i32 %c1 = llvm.mlir.constant(1 : i32) : i32 "
    "%c31 = llvm.mlir.constant(31 : i32) : i32 %all = llvm.mlir.constant(-1 : i32) : i32 "
    "%tid = nvvm.read.ptx.sreg.tid.x : i32 ";

std::string Trial::run(const std::string &body) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, attn::nv::AttnNVDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(diagnostics) << diagnostic.getLocation() << ": " << diagnostic;
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kHead + body + "\nllvm.return }",
                                                             ParserConfig(&context), "t.mlir");
  if (!module)
    return "parse: " + diagnostics;
  auto program = emu::Program::create(*module, *findTarget(target));
  if (!program)
    return program.error().message + ": " + diagnostics;
  void *address = x.data();
  void *parameters[] = {&address};
  emu::Program::Request request;
  request.kernel = "k";
  request.grid.x = grid;
  request.block.x = threads;
  request.dynamicSharedBytes = sharedBytes;
  request.parameters = parameters;
  request.numParameters = 1;
  request.faultCode = faultCode;
  emu::GlobalMemory memory;
  memory.addTensor("x", rt::TensorArg::dense(x.data(), rt::ElementType::I32, {8, 8}));
  rt::Status status = (*program)->launch(request, memory, options);
  code = status ? std::nullopt : std::optional(status.error().code);
  return status ? "" : status.error().message;
}
