"""Loads a kernel artifact that attnc wrote and launches it on PyTorch tensors.

    function = Function(read_artifact("causal.attn"))
    call = function.bind(q=q, k=k, v=v, o=o, lse=lse, scale=0.125)
    call.launch(torch.cuda.current_stream().cuda_stream)

The file's layout and the manifest are described in include/attn/Runtime/Artifact.h. Only the CUDA
driver is needed (through ctypes); PyTorch owns the memory.
"""

import ctypes
import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"ATTNKRN\n"
SCHEMA = 3
DYNAMIC = -1

# Element types of the manifest: PyTorch's name and the bytes of one element.
ELEMENT_TYPES = {
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "bf16": ("bfloat16", 2),
    "f16": ("float16", 2),
    "f8E4M3FN": ("float8_e4m3fn", 1),
    "f8E5M2": ("float8_e5m2", 1),
    "i64": ("int64", 8),
    "i32": ("int32", 4),
    "i16": ("int16", 2),
    "i8": ("int8", 1),
    "i1": ("bool", 1),
}
SCALARS = {
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "i64": ctypes.c_int64,
    "index": ctypes.c_int64,
    "i32": ctypes.c_int32,
}

# Values of the driver's enumerations for tensor maps (cuda.h, CUtensorMap*).
TENSOR_MAP_TYPES = {"f16": 6, "bf16": 9}
TENSOR_MAP_SWIZZLE_128B = 3
TENSOR_MAP_PROMOTION_L2_256B = 3
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64

CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
CU_FUNC_ATTRIBUTES = {"registers": 4, "local_bytes": 3, "shared_bytes": 1, "max_threads": 0}


class ArtifactError(Exception):
    """The file is not an artifact, or a call does not fit it."""


@dataclass
class Artifact:
    key: str
    manifest: dict
    payload: bytes


def parse_artifact(data, name="artifact"):
    """The artifact in `data`; raises ArtifactError that names `name`."""
    if len(data) < 72 or data[:8] != MAGIC:
        raise ArtifactError(f"{name}: not an attn artifact (expected it to start with {MAGIC!r})")
    schema, _, key_bytes, manifest_bytes, payload_bytes = struct.unpack_from("<IIQQQ", data, 8)
    if schema != SCHEMA:
        raise ArtifactError(f"{name}: expected artifact schema {SCHEMA}, got {schema}")
    if 72 + key_bytes + manifest_bytes + payload_bytes != len(data):
        raise ArtifactError(f"{name}: the header's lengths do not add up to {len(data)} bytes")
    if hashlib.sha256(data[:40] + data[72:]).digest() != data[40:72]:
        raise ArtifactError(f"{name}: the contents do not match their digest")
    manifest_at = 72 + key_bytes
    payload_at = manifest_at + manifest_bytes
    return Artifact(
        key=data[72:manifest_at].decode(),
        manifest=json.loads(data[manifest_at:payload_at]),
        payload=data[payload_at:],
    )


def read_artifact(path):
    return parse_artifact(Path(path).read_bytes(), str(path))


class Driver:
    """The CUDA driver; every call raises on an error and names it."""

    def __init__(self, library=None):
        self.library = library or ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(result, ctypes.byref(text))
            reason = text.value.decode() if text.value else "unknown error"
            raise RuntimeError(f"{name}: {reason} ({result})")


def evaluate(expression, arguments):
    """A product of constants and ceilDiv(size, divisor) over the call's tensors."""
    value = 1
    for factor in expression:
        if isinstance(factor, int):
            value *= factor
        else:
            value *= -(-arguments[factor["arg"]].shape[factor["dim"]] // factor["div"])
    return value


def check_argument(spec, value):
    """Raises ArtifactError unless `value` is what the manifest asks for."""
    name = spec["name"]
    if spec["kind"] != "memref":
        if not isinstance(value, (int, float)):
            raise ArtifactError(f"argument '{name}': expected a number, got {type(value).__name__}")
        return
    expected, element_bytes = ELEMENT_TYPES[spec["type"]]
    actual = str(value.dtype).removeprefix("torch.")
    if actual != expected:
        raise ArtifactError(f"argument '{name}': expected {expected}, got {actual}")
    shape, strides = tuple(value.shape), tuple(value.stride())
    if len(shape) != len(spec["shape"]) or any(
        want not in (DYNAMIC, got) for want, got in zip(spec["shape"], shape)
    ):
        wanted = ["?" if size == DYNAMIC else size for size in spec["shape"]]
        raise ArtifactError(f"argument '{name}': expected shape {wanted}, got {list(shape)}")
    if 0 in shape:
        return
    if shape and shape[-1] > 1 and strides[-1] != 1:
        raise ArtifactError(
            f"argument '{name}': expected a contiguous last dimension, got stride {strides[-1]}"
        )
    distances = [value.data_ptr()] + [
        stride * element_bytes
        for size, stride in zip(shape[:-1], strides[:-1])
        if size > 1
    ]
    for distance in distances:
        if distance % spec["align"]:
            raise ArtifactError(
                f"argument '{name}': expected address and strides to be multiples of "
                f"{spec['align']} bytes, got {distance}"
            )


def tensor_parameters(tensor):
    """The fields of a memref descriptor, each a kernel parameter of its own."""
    pointer = ctypes.c_uint64(tensor.data_ptr())
    numbers = [0, *tensor.shape, *tensor.stride()]
    return [pointer, pointer, *(ctypes.c_int64(number) for number in numbers)]


def encode_tensor_map(driver, spec, argument, tensor):
    """The descriptor of a [batch, rows, heads, columns] tensor that bulk copies read."""
    storage = ctypes.create_string_buffer(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGNMENT)
    address = ctypes.addressof(storage)
    offset = -address % TENSOR_MAP_ALIGNMENT
    encoded = (ctypes.c_char * TENSOR_MAP_BYTES).from_buffer(storage, offset)
    if 0 in tensor.shape:
        return encoded
    order = (3, 1, 2, 0)  # From the fastest dim to the slowest.
    sizes = (ctypes.c_uint64 * 4)(*(tensor.shape[dim] for dim in order))
    # A dim of one element has no neighbours: any legal stride will do.
    strides = (ctypes.c_uint64 * 3)(
        *(
            tensor.stride(dim) * tensor.element_size() if tensor.shape[dim] > 1 else 16
            for dim in order[1:]
        )
    )
    box = (ctypes.c_uint32 * 4)(spec["cols"], spec["rows"], 1, 1)
    steps = (ctypes.c_uint32 * 4)(1, 1, 1, 1)
    driver.call(
        "cuTensorMapEncodeTiled", ctypes.byref(encoded), TENSOR_MAP_TYPES[argument["type"]], 4,
        ctypes.c_void_p(tensor.data_ptr()), sizes, strides, box, steps, 0,
        TENSOR_MAP_SWIZZLE_128B, TENSOR_MAP_PROMOTION_L2_256B, 0,
    )
    return encoded


class Call:
    """A bound call: everything is decided, launch() only submits."""

    def __init__(self, driver, launches, keep):
        self.driver = driver
        self.launches = launches
        self.keep = keep  # Parameters and workspaces that the launches point to.

    def launch(self, stream):
        for function, grid, threads, shared, parameters in self.launches:
            if grid:
                self.driver.call(
                    "cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, shared,
                    ctypes.c_void_p(stream), parameters, None,
                )


class Function:
    """An artifact loaded on a device. `extra` are values that its kernels take after their own."""

    def __init__(self, artifact, device=0, driver=None, extra=()):
        self.extra = list(extra)
        self.manifest = artifact.manifest
        self.driver = driver or Driver()
        self.device = device
        driver = self.driver
        driver.call("cuInit", 0)
        handle, context = ctypes.c_int(), ctypes.c_void_p()
        driver.call("cuDeviceGet", ctypes.byref(handle), device)
        # The primary context is the one that PyTorch works in.
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
        driver.call("cuCtxSetCurrent", context)
        self.module = ctypes.c_void_p()
        # The driver reads PTX up to a terminating zero.
        image = ctypes.create_string_buffer(artifact.payload)
        driver.call("cuModuleLoadData", ctypes.byref(self.module), image)
        multiprocessors = ctypes.c_int()
        driver.call(
            "cuDeviceGetAttribute", ctypes.byref(multiprocessors),
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle,
        )
        self.multiprocessors = multiprocessors.value
        self.kernels = [self._load_kernel(entry) for entry in self.manifest["kernels"]]

    def _load_kernel(self, entry):
        function = ctypes.c_void_p()
        self.driver.call(
            "cuModuleGetFunction", ctypes.byref(function), self.module, entry["name"].encode()
        )
        if entry["dynamic_shared"]:
            self.driver.call(
                "cuFuncSetAttribute",
                function,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                entry["dynamic_shared"],
            )
        return function

    def resources(self):
        """Per kernel: what the driver says of registers, spills and shared memory."""
        rows = []
        for entry, function in zip(self.manifest["kernels"], self.kernels):
            row = {"name": entry["name"], "threads": entry["threads"]}
            row["dynamic_shared_bytes"] = entry["dynamic_shared"]
            for name, attribute in CU_FUNC_ATTRIBUTES.items():
                value = ctypes.c_int()
                self.driver.call("cuFuncGetAttribute", ctypes.byref(value), attribute, function)
                row[name] = value.value
            rows.append(row)
        return rows

    def bind(self, **arguments):
        """Checks the call's arguments, given by the manifest's names, and prepares its launches.

        The call owns workspaces and tile counters: a CUDA graph that captures it must not outlive it.
        """
        specs = self.manifest["arguments"]
        names = [spec["name"] for spec in specs]
        if sorted(names) != sorted(arguments):
            raise ArtifactError(f"expected the arguments {names}, got {sorted(arguments)}")
        values = [arguments[name] for name in names]
        for spec, value in zip(specs, values):
            check_argument(spec, value)
        for group in self.manifest["equal_sizes"]:
            sizes = {values[ref["arg"]].shape[ref["dim"]] for ref in group}
            if len(sizes) > 1:
                where = ", ".join(f"{names[ref['arg']]}.size({ref['dim']})" for ref in group)
                raise ArtifactError(f"expected equal sizes of {where}, got {sorted(sizes)}")

        keep = []
        parameters = []
        for spec, value in zip(specs, values):
            if spec["kind"] == "memref":
                parameters.append(tensor_parameters(value))
            else:
                parameters.append([SCALARS[spec["kind"]](value)])
        for workspace in self.manifest["workspaces"]:
            scratch = self._allocate(workspace, values)
            keep.append(scratch)
            parameters.append(tensor_parameters(scratch))

        launches = []
        for entry, function in zip(self.manifest["kernels"], self.kernels):
            cells = [cell for index in entry["arguments"] for cell in parameters[index]]
            if entry["tile_counter"]:
                # One for each call: graphs of several calls may run their kernels side by side.
                counter = self._tile_counter()
                keep.append(counter)
                cells += tensor_parameters(counter)
            cells += [
                encode_tensor_map(self.driver, spec, specs[spec["arg"]], values[spec["arg"]])
                for spec in entry["tensor_maps"]
            ]
            cells += self.extra
            pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
            keep.append(cells)
            grid = evaluate(entry["grid"], values)
            if entry["persistent"]:
                grid = min(grid, self.multiprocessors)
            launches.append(
                (function, grid, entry["threads"], entry["dynamic_shared"], pointers)
            )
        return Call(self.driver, launches, keep)

    def _tile_counter(self):
        import torch

        counter = torch.zeros(1, dtype=torch.int32, device=f"cuda:{self.device}")
        torch.cuda.current_stream(self.device).synchronize()  # Launches may be on another stream.
        return counter

    def _allocate(self, workspace, values):
        import torch

        shape = [evaluate(size, values) for size in workspace["shape"]]
        dtype = getattr(torch, ELEMENT_TYPES[workspace["type"]][0])
        return torch.empty(shape, dtype=dtype, device=f"cuda:{self.device}")
