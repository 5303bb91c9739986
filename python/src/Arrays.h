//===- Arrays.h - Arrays of other frameworks as tensors ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PYTHON_ARRAYS_H
#define ATTN_PYTHON_ARRAYS_H

#include "attn-c/Attn.h"

#include <nanobind/nanobind.h>

namespace attn::python {

/// How an array says where it lies.
enum class Protocol {
  Torch,         ///< Methods of torch.Tensor, which cost less than DLPack.
  DLPack,        ///< DLPack or the buffer protocol: NumPy, JAX and others.
  CudaInterface, ///< __cuda_array_interface__: CuPy.
};

/// A tensor with what keeps its memory alive.
struct ArrayView {
  AttnTensor tensor{};
  int device = -1; ///< -1 for the CPU, or the number of a CUDA device.
  nanobind::object owner;
};

/// Makes dtype objects of a framework known: "f32", "bf16" or "f16". The object lives for ever.
void registerType(nanobind::object dtype, const std::string &name);

/// Describes an array; `name` is what messages call it. Raises ArgumentTypeError for what is no
/// array of the protocol, SpecError for element types and ranks that no tensor has, and for a
/// result that may not be written.
ArrayView viewArray(const char *name, nanobind::handle array, Protocol protocol, bool isResult);

} // namespace attn::python

#endif // ATTN_PYTHON_ARRAYS_H
