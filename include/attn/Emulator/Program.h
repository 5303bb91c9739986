//===- Program.h - L3 programs that run on the host -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_PROGRAM_H
#define ATTN_EMULATOR_PROGRAM_H

#include "attn/Emulator/Launch.h"
#include "attn/Runtime/Error.h"
#include "attn/Target/TargetInfo.h"

#include <mlir/IR/BuiltinOps.h>

namespace attn::emu {

/// The compiled kernels of one L3 module.
class Program {
public:
  /// Compiles a module of llvm, nvvm and attn_nv ops (the output of stage `lower`), which is
  /// left as it is and not needed afterwards. An op without semantics, or that the target does not
  /// have, is an error that MLIR's diagnostics tell; the returned one then says just that. `target`
  /// is one of the table of targets, a GPU.
  static rt::Expected<std::unique_ptr<Program>> create(mlir::ModuleOp module,
                                                       const TargetInfo &target);
  ~Program();

  /// A launch as the CUDA driver would get it: `parameters` points to the value of each
  /// parameter in order.
  struct Request {
    std::string kernel;
    Dim3 grid, block;
    size_t dynamicSharedBytes = 0;
    void **parameters = nullptr;
    size_t numParameters = 0;
    /// Of a report, and of a launch that does not fit the program: whose fault these are.
    rt::ErrorCode faultCode = rt::ErrorCode::BadInput;
  };
  /// Runs one launch. `memory` is all that it may access. What is wrong with the program is an
  /// error of code `request.faultCode`; limits that the options set are BadInput when they are met.
  rt::Status launch(const Request &request, GlobalMemory memory,
                    const LaunchOptions &options) const;

private:
  struct State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_PROGRAM_H
