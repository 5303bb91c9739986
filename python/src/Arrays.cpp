//===- Arrays.cpp - Arrays of other frameworks as tensors -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include "Errors.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <unordered_map>

namespace nb = nanobind;
using namespace attn::python;

static std::unordered_map<PyObject *, AttnType> &knownTypes() {
  static auto *types = new std::unordered_map<PyObject *, AttnType>();
  return *types;
}

void attn::python::registerType(nb::object dtype, const std::string &name) {
  AttnType type = name == "f32" ? ATTN_F32 : name == "bf16" ? ATTN_BF16 : ATTN_F16;
  knownTypes()[dtype.release().ptr()] = type;
}

static std::string typeName(nb::handle object) {
  nb::handle type = object.type();
  return nb::cast<std::string>(type.attr("__module__")) + "." +
         nb::cast<std::string>(type.attr("__qualname__"));
}

static std::string textOf(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

[[noreturn]] static void raiseType(const char *name, const std::string &expected,
                                   nb::handle array) {
  raise("ArgumentTypeError",
        std::string(name) + ": expected " + expected + ", got " + typeName(array));
}

[[noreturn]] static void raiseElementType(const char *name, const std::string &got) {
  raise("SpecError",
        std::string(name) + ": expected elements of float32, bfloat16 or float16, got " + got);
}

static void setRank(const char *name, AttnTensor &tensor, size_t rank) {
  if (rank > 4)
    raise("SpecError", std::string(name) + ": expected 4 dimensions, got " + std::to_string(rank));
  tensor.rank = static_cast<int32_t>(rank);
}

/// The integers of a tuple, as many as `count`.
static void readInts(nb::handle tuple, int64_t *values, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    PyObject *value = PyTuple_GetItem(tuple.ptr(), i);
    values[i] = value ? PyLong_AsLongLong(value) : -1;
    if (values[i] == -1 && PyErr_Occurred())
      throw nb::python_error();
  }
}

//===----------------------------------------------------------------------===//
// PyTorch
//===----------------------------------------------------------------------===//

namespace {

/// Names that every call looks up.
struct TorchNames {
  PyObject *dataPtr = PyUnicode_InternFromString("data_ptr");
  PyObject *shape = PyUnicode_InternFromString("shape");
  PyObject *stride = PyUnicode_InternFromString("stride");
  PyObject *dtype = PyUnicode_InternFromString("dtype");
  PyObject *isCuda = PyUnicode_InternFromString("is_cuda");
  PyObject *isCpu = PyUnicode_InternFromString("is_cpu");
  PyObject *getDevice = PyUnicode_InternFromString("get_device");
};

} // namespace

static nb::object attributeOf(nb::handle object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object.ptr(), name);
  if (!value)
    throw nb::python_error();
  return nb::steal(value);
}

static nb::object callMethod(nb::handle object, PyObject *name) {
  PyObject *value = PyObject_CallMethodObjArgs(object.ptr(), name, nullptr);
  if (!value)
    throw nb::python_error();
  return nb::steal(value);
}

static bool isTrue(nb::object value) { return value.is(nb::bool_(true)); }

static ArrayView viewTorch(const char *name, nb::handle array) {
  static const TorchNames *names = new TorchNames();
  nb::object shape = nb::steal(PyObject_GetAttr(array.ptr(), names->shape));
  nb::object isCpu = nb::steal(shape ? PyObject_GetAttr(array.ptr(), names->isCpu) : nullptr);
  if (!isCpu) {
    PyErr_Clear();
    raiseType(name, "a torch.Tensor as q is", array);
  }
  ArrayView view;
  nb::object dtype = attributeOf(array, names->dtype);
  auto type = knownTypes().find(dtype.ptr());
  if (type == knownTypes().end())
    raiseElementType(name, textOf(dtype));
  view.tensor.type = type->second;
  if (!isTrue(isCpu)) {
    if (!isTrue(attributeOf(array, names->isCuda)))
      raise("DeviceError", std::string(name) + ": expected a tensor on the CPU or a CUDA device, " +
                               "got one on " + textOf(array.attr("device")));
    view.device = nb::cast<int>(callMethod(array, names->getDevice));
  }
  setRank(name, view.tensor, nb::len(shape));
  readInts(shape, view.tensor.sizes, view.tensor.rank);
  readInts(callMethod(array, names->stride), view.tensor.strides, view.tensor.rank);
  nb::object address = nb::steal(PyObject_CallMethodObjArgs(array.ptr(), names->dataPtr, nullptr));
  if (!address) {
    PyErr_Clear();
    raise("SpecError", std::string(name) + ": expected a strided tensor with memory of its own, "
                                           "got one that is sparse or a stand-in");
  }
  view.tensor.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(address));
  view.owner = nb::borrow(array);
  return view;
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

static std::optional<AttnType> toType(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1)
    return std::nullopt;
  if (dtype == nb::dtype<float>())
    return ATTN_F32;
  if (dtype.bits != 16)
    return std::nullopt;
  if (dtype.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat))
    return ATTN_BF16;
  if (dtype.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float))
    return ATTN_F16;
  return std::nullopt;
}

/// NumPy exports no type of another package, such as bfloat16, but shows its bits.
static std::optional<AttnType> hiddenType(nb::handle array) {
  if (!nb::hasattr(array, "dtype"))
    return std::nullopt;
  auto type = knownTypes().find(nb::object(array.attr("dtype")).ptr());
  return type == knownTypes().end() ? std::nullopt : std::optional(type->second);
}

static ArrayView viewDLPack(const char *name, nb::handle array, bool isResult) {
  ArrayView view;
  nb::ndarray<nb::ro> given;
  bool isArray = nb::try_cast(array, given, /*convert=*/false);
  std::optional<AttnType> hidden;
  nb::object bits;
  if (!isArray && (hidden = hiddenType(array))) {
    bits = array.attr("view")("uint16");
    isArray = nb::try_cast(bits, given, /*convert=*/false);
  }
  if (!isArray) {
    if (nb::hasattr(array, "dtype"))
      raiseElementType(name, textOf(array.attr("dtype")));
    raiseType(name, "an array", array);
  }
  std::optional<AttnType> type = hidden ? hidden : toType(given.dtype());
  if (!type)
    raiseElementType(name, textOf(array.attr("dtype")));
  view.tensor.type = *type;
  switch (given.device_type()) {
  case nb::device::cpu::value:
  case nb::device::cuda_host::value:
    break;
  case nb::device::cuda::value:
  case nb::device::cuda_managed::value:
    view.device = given.device_id();
    break;
  default:
    raise("DeviceError", std::string(name) + ": expected an array on the CPU or a CUDA device, " +
                             "got DLPack device " + std::to_string(given.device_type()));
  }
  if (isResult && nb::hasattr(array, "flags") && !isTrue(array.attr("flags").attr("writeable")))
    raise("SpecError", std::string(name) + ": expected an array that may be written");
  setRank(name, view.tensor, given.ndim());
  for (size_t d = 0; d < given.ndim(); ++d) {
    view.tensor.sizes[d] = static_cast<int64_t>(given.shape(d));
    view.tensor.strides[d] = given.stride(d);
  }
  view.tensor.data = const_cast<void *>(given.data());
  view.owner = nb::make_tuple(nb::cast(given), array);
  return view;
}

//===----------------------------------------------------------------------===//
// CUDA array interface
//===----------------------------------------------------------------------===//

static ArrayView viewCudaInterface(const char *name, nb::handle array) {
  if (!nb::hasattr(array, "__cuda_array_interface__"))
    raiseType(name, "an array on a CUDA device as q is", array);
  ArrayView view;
  nb::dict interface = nb::cast<nb::dict>(array.attr("__cuda_array_interface__"));
  std::string dtype = nb::cast<std::string>(interface["typestr"]);
  int64_t bytes = 4;
  if (std::optional<AttnType> hidden = hiddenType(array))
    view.tensor.type = *hidden;
  else if (dtype == "<f4")
    view.tensor.type = ATTN_F32;
  else if (dtype == "<f2")
    view.tensor.type = ATTN_F16;
  else
    raiseElementType(name, dtype);
  if (view.tensor.type != ATTN_F32)
    bytes = 2;
  nb::object shape = interface["shape"];
  setRank(name, view.tensor, nb::len(shape));
  readInts(shape, view.tensor.sizes, view.tensor.rank);
  if (interface.contains("strides") && !nb::object(interface["strides"]).is_none()) {
    readInts(nb::object(interface["strides"]), view.tensor.strides, view.tensor.rank);
    for (int64_t &stride : view.tensor.strides)
      stride /= bytes;
  } else {
    int64_t stride = 1;
    for (int d = view.tensor.rank - 1; d >= 0; --d) {
      view.tensor.strides[d] = stride;
      stride *= view.tensor.sizes[d];
    }
  }
  view.tensor.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(interface["data"][0]));
  view.device = nb::cast<int>(array.attr("device").attr("id"));
  view.owner = nb::borrow(array);
  return view;
}

ArrayView attn::python::viewArray(const char *name, nb::handle array, Protocol protocol,
                                  bool isResult) {
  switch (protocol) {
  case Protocol::Torch:
    return viewTorch(name, array);
  case Protocol::DLPack:
    return viewDLPack(name, array, isResult);
  case Protocol::CudaInterface:
    return viewCudaInterface(name, array);
  }
  raise("CompileError", "unknown protocol");
}
