//===- AttnNVDialect.td - The attn_nv dialect -----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_NV_DIALECT
#define ATTN_NV_DIALECT

include "mlir/IR/OpBase.td"

def AttnNV_Dialect : Dialect {
  let name = "attn_nv";
  let cppNamespace = "::attn::nv";
  let summary = "Instructions of NVIDIA GPUs that the NVVM dialect lacks";
  let description = [{
    A kernel's thread program (L3) is made of `llvm` and `nvvm` ops. This dialect holds one op for
    each instruction that NVVM has no op for, or whose op cannot say what is needed: `wgmma` with A
    in registers, accumulators that travel through waits as values, arrivals with a predicate.

    Ops stay in the program to its end: the PTX emitter turns each into the instruction named in its
    description, and the emulator executes it. Ops that need a chip say so with NVVM's traits; the
    emitter checks those of both dialects.

    Upstream ops to use with these: `nvvm.mbarrier.init`, `nvvm.mbarrier.try_wait`,
    `nvvm.fence.mbarrier.init`, `nvvm.fence.proxy`, `nvvm.barrier` (with id and number of threads),
    `nvvm.cp.async.bulk.*`, `nvvm.setmaxregister`, `nvvm.elect.sync`, `nvvm.stmatrix`,
    `nvvm.wgmma.commit.group.sync.aligned`, `nvvm.mapa`, `nvvm.cluster.arrive`, `nvvm.cluster.wait`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ATTN_NV_DIALECT
