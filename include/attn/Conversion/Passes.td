//===- Passes.td - Conversions out of the attn dialect --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES
#define ATTN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertAttnToNVVM : Pass<"convert-attn-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn scheduled tile programs into the program of one GPU thread";
  let description = [{
    Each function with a loop over CTAs becomes a kernel (`attn.threads` says how
    many threads): the loop's ids
    come from the block number, tiles become registers or pointers into dynamic shared
    memory, tile ops become `nvvm`, `llvm`, `arith` and `math` ops. Tensors stay memrefs.
    For sm_80 and later: cp.async, ldmatrix, mma.sync.m16n8k16. For sm_90a, where the schedule
    says wgmma: roles become branches on the warp's number, pipes mbarriers and copies by
    tensor maps, products `attn_nv.wgmma`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::attn::nv::AttnNVDialect"];
}

def AttnNarrowPositions : Pass<"attn-narrow-positions", "::mlir::func::FuncOp"> {
  let summary = "compute positions and tile numbers of kernels with tensor maps in 32 bits";
  let description = [{
    Tensor maps take coordinates of 32 bits, so that nothing longer can be a position in such a
    kernel; only addresses need 64. Warps that copy have few registers to hold either in. Constants
    and arguments that are no position, because they mean "unlimited", become the farthest one.

    ```mlir
    %n = memref.dim %k, %c1
    scf.for %j = %c0 to %n step %c64 { %r = arith.index_cast %j : index to i32 ... }
    // becomes
    %n = arith.index_cast (memref.dim %k, %c1) : index to i32
    scf.for %j = %c0 to %n step %c64 : i32 { ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnConvertThreadsToLLVM : Pass<"attn-convert-threads-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert thread programs to the LLVM dialect in one conversion";
  let description = [{
    Views of memrefs become pointer arithmetic; then affine, arith, math, memref, cf and func
    are converted together, so that unrolled code is visited once. NVVM and attn_nv stay.
    Structured control flow has to be gone: in `attn-gpu-to-llvm`, MLIR's SCFToControlFlow pass
    runs before. Fails on an op that none of those conversions takes.

    ```mlir
    func.func @f(%a: f32, %b: f32) {
      %0 = arith.mulf %a, %b : f32
      ...
    // becomes
    llvm.func @f(%a: f32, %b: f32) {
      %0 = llvm.fmul %a, %b : f32
      ...
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

def AttnDropBarriers : Pass<"attn-drop-barriers", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "leave out CTA barriers that the next one stands in for";
  let description = [{
    A barrier orders what comes before it against what comes after it in other threads. Where
    every way on leads to another barrier, or to the end, before shared memory is reached, that
    one does the same. Threads of these kernels share nothing else: other memory does not count,
    nor do the groups of a thread's own copies.

    ```mlir
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    // becomes
    nvvm.cp.async.wait.group 1
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AttnMarkKernels : Pass<"attn-mark-kernels", "::mlir::ModuleOp"> {
  let summary = "give lowered kernels the attributes that the NVPTX backend reads";
  let description = [{
    Every `llvm.func` with `attn.threads` gets `nvvm.kernel` and `nvvm.maxntid`; its tensor maps
    are passed by value, in constant memory of the grid, and its CTAs then have an SM of their
    own (`nvvm.minctasm` = 1), which lets ptxas give them its registers. Runs after
    functions are lowered to LLVM, since those attributes belong to `llvm.func`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ConvertAttnToCPU : Pass<"convert-attn-to-cpu", "::mlir::ModuleOp"> {
  let summary = "turn tile programs into loops over vectors for the host";
  let description = [{
    Each function marked `attn.kernel` becomes a function over a range of its tiles, which
    are the ids of its `scf.forall` counted with the last id fastest, and a function that
    says how many there are:

    ```mlir
    func.func @f(%q: memref<...>, %scale: f32) attributes {attn.kernel}
    // becomes
    func.func @f(%q: memref<...>, %scale: f32, %begin: i64, %end: i64)
    func.func @f_num_tiles(%q: memref<...>, %scale: f32) -> i64
    ```

    A tile is a buffer of f32 on the heap, allocated once for the whole range, whose rows are
    padded to whole vectors. bf16 and f16 tiles are kept as f32 too: their values are those
    of the narrow type. An operand that nothing else uses gives its buffer to the result.
    Loops over buffers alone become private functions, because peeled K/V loops hold the
    same ones several times.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"vectorWidth", "vector-width", "unsigned", /*default=*/"8",
           "f32 elements in a vector register: 4, 8 or 16">];
}

def AttnApproximateMath : Pass<"attn-approximate-math"> {
  let summary = "replace f32 math functions by polynomials that work on vectors";
  let description = [{
    The polynomial approximations of the math dialect, which need no library; exp2 is
    first written as an exp.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def AttnPackKernelArguments : Pass<"attn-pack-kernel-arguments", "::mlir::ModuleOp"> {
  let summary = "give each kernel an entry that takes its arguments as one array of pointers";
  let description = [{
    For each `llvm.func @f` marked `attn.kernel` adds `@f_packed(!llvm.ptr)`, and
    `@f_num_tiles_packed` for its tile count: entry i of the array points to argument i of
    the unpacked function, and one more entry points to the result if there is one. So C
    can call a kernel of any signature as `void f_packed(void **)`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertNVVMToEmulator : Pass<"convert-nvvm-to-emulator", "::mlir::ModuleOp"> {
  let summary = "lower a thread program to host code that calls the emulator";
  let description = [{
    Plain `llvm` ops stay. Each other op becomes a *site*: its operands are stored to a buffer,
    the emulator is called with the site's number, and the results are loaded:

    ```mlir
    %d = nvvm.shfl.sync idx %mask, %v, %lane, %clamp : i32 -> i32
    // becomes
    llvm.store %mask, %args {alignment = 8 : i64} : i32, !llvm.ptr
    ...
    llvm.call @attn_emu_op(%thread, %site, %args, %results)
    %d = llvm.load %results {alignment = 8 : i64} : !llvm.ptr -> i32
    ```

    Loads, stores and atomics are announced by `attn_emu_access`, divisions checked by
    `attn_emu_check`, rounds of loops counted by `attn_emu_step`. Kernels get the thread as
    their first argument, and an entry `attn_emu_entry_<kernel>` that loads the others. An op
    without semantics is an error, and the module is left as it was.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AttnVerifyNoAttnOps : Pass<"attn-verify-no-attn-ops"> {
  let summary = "check that no op, type or value of the attn dialect is left";
}

#endif // ATTN_CONVERSION_PASSES
