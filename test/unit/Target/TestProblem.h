//===- TestProblem.h - Problems for unit tests ------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_TARGET_TESTPROBLEM_H
#define ATTN_TEST_UNIT_TARGET_TESTPROBLEM_H

#include "attn/Dispatch/Passes.h"
#include "attn/Dispatch/ScheduleSelection.h"

#include <llvm/Support/FormatVariadic.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>

namespace attn::test {

/// What varies from problem to problem.
struct ProblemText {
  std::string element = "bf16";
  int64_t headDimQK = 64;
  int64_t headDimV = 64;
  std::string mask = "#attn.none";
  std::string seqLenQ = "?";
  std::string out = {}; ///< Element type of o, when not that of q.
  int64_t alignment = 16;
  int64_t headsQ = 8;
  int64_t headsKV = 8;
};

/// A module of one function with one attn.forward.
class TestProblem {
public:
  TestProblem(mlir::MLIRContext &context, const ProblemText &text) {
    context.loadDialect<AttnDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
    auto tensor = [&](const std::string &seq, int64_t heads, int64_t dim, const std::string &type) {
      return llvm::formatv("memref<?x{0}x{1}x{2}x{3}>", seq, heads, dim, type).str();
    };
    std::string q = tensor(text.seqLenQ, text.headsQ, text.headDimQK, text.element);
    std::string k = tensor("?", text.headsKV, text.headDimQK, text.element);
    std::string v = tensor("?", text.headsKV, text.headDimV, text.element);
    std::string o = tensor(text.seqLenQ, text.headsQ, text.headDimV,
                           text.out.empty() ? text.element : text.out);
    std::string source = llvm::formatv(
        "func.func @f(%q: {0}, %k: {1}, %v: {2}, %o: {3}, %s: f32) {{\n"
        "  attn.forward ins(%q, %k, %v : {0}, {1}, {2}) outs(%o : {3}) scale(%s) mask({4})\n"
        "    alignment({5})\n  return\n}",
        q, k, v, o, text.mask, text.alignment);
    module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (module)
      module->walk([&](ForwardOp found) { op = found; });
  }

  /// Runs function passes; true when all succeed.
  template <typename... Passes> bool run(Passes... passes) {
    mlir::PassManager manager(module->getContext());
    (manager.addNestedPass<mlir::func::FuncOp>(std::move(passes)), ...);
    return mlir::succeeded(manager.run(*module));
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  ForwardOp op;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_TARGET_TESTPROBLEM_H
