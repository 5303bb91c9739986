//===- HostJit.h - Compiles and runs kernels on the host --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_HOSTJIT_H
#define ATTN_TARGET_HOSTJIT_H

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>
#include <mlir/IR/BuiltinOps.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace attn {

/// A strided view of memory: element (i, j, ...) lies at data + (i strides[0] + j strides[1]
/// + ...) elements. Strides may be zero.
struct HostTensor {
  void *data = nullptr;
  llvm::SmallVector<int64_t, 5> sizes;
  llvm::SmallVector<int64_t, 5> strides;
};

/// One argument of a kernel: a tensor for a memref, a float for an f32, an int64_t for an
/// index or i64.
using HostArg = std::variant<HostTensor, float, int64_t>;

/// f32 elements in the widest vector register of this machine: what convert-attn-to-cpu
/// wants as its vector-width.
unsigned hostVectorWidth();

/// Architecture, name and features of this machine's processor: what code compiled here relies on.
const std::string &hostProcessor();

/// The compiled kernels of one module. Threads may call run at the same time.
class HostKernel {
public:
  /// Compiles the kernels of a module that the pipeline attn-cpu-to-llvm made, for this machine's
  /// processor, to bytes that `load` takes on any machine of the same hostProcessor(). The module
  /// is left as it is.
  static llvm::Expected<std::string> compile(mlir::ModuleOp llvmModule);

  /// Links what `compile` made into this process.
  static llvm::Expected<std::unique_ptr<HostKernel>> load(llvm::StringRef image);

  /// Both.
  static llvm::Expected<std::unique_ptr<HostKernel>> create(mlir::ModuleOp llvmModule) {
    llvm::Expected<std::string> image = compile(llvmModule);
    if (!image)
      return image.takeError();
    return load(*image);
  }

  ~HostKernel();
  HostKernel(const HostKernel &) = delete;
  HostKernel &operator=(const HostKernel &) = delete;

  /// Runs the module's kernels one after the other on the same arguments, each with its
  /// tiles handed out to `numThreads` threads (0: one for each processor). An argument that
  /// does not fit the kernel is an error and nothing is run.
  llvm::Error run(llvm::ArrayRef<HostArg> args, unsigned numThreads = 0);

private:
  struct State;
  HostKernel();

  std::unique_ptr<State> state;
};

} // namespace attn

#endif // ATTN_TARGET_HOSTJIT_H
