//===- Errors.cpp - Failures as Python exceptions -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

void attn::python::raise(const char *name, const std::string &message) {
  nb::object type = nb::module_::import_("attn.errors").attr(name);
  PyErr_SetString(type.ptr(), message.c_str());
  throw nb::python_error();
}

void attn::python::check(AttnStatus status) {
  if (status == ATTN_OK)
    return;
  std::string message = attnLastError();
  switch (status) {
  case ATTN_BAD_INPUT:
    raise("SpecError", message);
  case ATTN_UNAVAILABLE:
    raise("DeviceError", message);
  case ATTN_NOT_FOUND:
    raise("CacheMissError", message);
  case ATTN_BUSY:
    raise("CaptureError", message);
  default:
    raise("CompileError", message);
  }
}
