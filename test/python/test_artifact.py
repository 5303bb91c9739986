"""benchmarks/attn_artifact.py against a driver that records what it is asked."""

import copy
import ctypes
import hashlib
import json
import struct

import attn_artifact
import numpy as np
import pytest
from attnc import attnc

MANIFEST = {
    "schema": 3,
    "chip": "sm_80",
    "payload": "ptx",
    "compiler": "test",
    "problem": "attn.forward",
    "min_driver": 0,
    "arguments": [
        {"name": "q", "kind": "memref", "type": "f32", "shape": [-1, -1, 4, 8], "align": 16},
        {"name": "o", "kind": "memref", "type": "f32", "shape": [-1, -1, 4, 8], "align": 16},
        {"name": "scale", "kind": "f32"},
    ],
    "equal_sizes": [[{"arg": 0, "dim": 1}, {"arg": 1, "dim": 1}]],
    "workspaces": [],
    "kernels": [
        {
            "name": "forward",
            "grid": [{"arg": 0, "dim": 1, "div": 64}, {"arg": 0, "dim": 0, "div": 1}, 4],
            "threads": 128,
            "static_shared": 0,
            "dynamic_shared": 65536,
            "registers": -1,
            "arguments": [0, 1, 2],
            "persistent": False,
            "tile_counter": False,
            "tensor_maps": [],
        }
    ],
}


def pack(manifest=None, payload=b".version 8.0\n", schema=3):
    key = b"0" * 64
    text = json.dumps(manifest or MANIFEST).encode()
    header = b"ATTNKRN\n" + struct.pack("<IIQQQ", schema, 0, len(key), len(text), len(payload))
    body = key + text + payload
    return header + hashlib.sha256(header + body).digest() + body


class Tensor:
    """As much of a PyTorch tensor as the loader looks at."""

    def __init__(self, array, dtype=None):
        self.array = array
        self.dtype = f"torch.{dtype or array.dtype}"
        self.shape = array.shape

    def stride(self, dim=None):
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if dim is None else strides[dim]

    def element_size(self):
        return self.array.itemsize

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]


def tensor(*shape, offset=0):
    """Zeros at an address that is a multiple of 16 plus `offset` bytes."""
    count = int(np.prod(shape))
    base = np.zeros(count + 8, np.float32)
    begin = (-base.__array_interface__["data"][0] % 16 + offset) // 4
    return Tensor(base[begin : begin + count].reshape(shape))


def tensor16(*shape):
    """As `tensor`; NumPy has no bfloat16, so that another type of 16 bits stands for it."""
    whole = tensor(*shape).array.view(np.uint16)
    return Tensor(whole[..., : shape[-1]], dtype="bfloat16")


class FakeCuda:
    def __init__(self):
        self.launches = []
        self.maps = []
        self.attributes = []
        self.fail = None

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *arguments: 1 if name == self.fail else 0

    def cuGetErrorString(self, result, text):
        text._obj.value = b"invalid image"
        return 0

    def cuModuleLoadData(self, module, image):
        self.image = image.value
        return 1 if self.fail == "cuModuleLoadData" else 0

    def cuFuncSetAttribute(self, function, attribute, value):
        self.attributes.append((attribute, value))
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        assert attribute == 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        value._obj.value = 108
        return 0

    def cuTensorMapEncodeTiled(self, out, element_type, rank, address, *arrays_and_modes):
        *arrays, interleave, swizzle, promotion, fill = arrays_and_modes
        assert ctypes.addressof(out._obj) % 64 == 0
        out._obj[:] = bytes([len(self.maps) + 1]) * len(out._obj)
        sizes, strides, box, steps = (tuple(array) for array in arrays)
        self.maps.append({
            "type": element_type, "rank": rank, "address": address.value, "sizes": sizes,
            "strides": strides, "box": box, "steps": steps,
            "modes": (interleave, swizzle, promotion, fill),
        })
        return 0

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        words = [ctypes.c_uint64.from_address(p).value for p in parameters[:-1]]
        scale = ctypes.c_float.from_address(parameters[len(parameters) - 1]).value
        self.launches.append(((gx, gy, gz), (bx, by, bz), shared, stream.value, words, scale))
        return 0


@pytest.fixture
def cuda():
    return FakeCuda()


def load(cuda, manifest=None):
    artifact = attn_artifact.parse_artifact(pack(manifest))
    return attn_artifact.Function(artifact, driver=attn_artifact.Driver(cuda))


def test_launch_passes_expanded_descriptors(cuda):
    q, o = tensor(2, 100, 4, 8), tensor(2, 100, 4, 8)
    load(cuda).bind(q=q, o=o, scale=0.5).launch(stream=77)
    [(grid, block, shared, stream, words, scale)] = cuda.launches
    assert (grid, block, shared, stream) == ((16, 1, 1), (128, 1, 1), 65536, 77)
    shape, strides = [2, 100, 4, 8], [3200, 32, 8, 1]
    assert words == [
        *[q.data_ptr(), q.data_ptr(), 0, *shape, *strides],
        *[o.data_ptr(), o.data_ptr(), 0, *shape, *strides],
    ]
    assert scale == 0.5
    assert cuda.attributes == [(8, 65536)]
    assert cuda.image == b".version 8.0\n"


def test_empty_grid_launches_nothing(cuda):
    load(cuda).bind(q=tensor(2, 0, 4, 8), o=tensor(2, 0, 4, 8), scale=1.0).launch(0)
    assert cuda.launches == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(q=tensor(2, 9, 4, 8)), "expected the arguments"),
        (dict(q=tensor(2, 9, 3, 8)), r"argument 'q': expected shape \['\?', '\?', 4, 8\]"),
        (dict(q=tensor(9, 4, 8)), "argument 'q': expected shape"),
        (dict(q=Tensor(np.zeros((2, 9, 4, 8)))), "argument 'q': expected float32, got float64"),
        (dict(q=tensor(2, 9, 4, 8, offset=4)), "multiples of 16 bytes"),
        (dict(q=Tensor(tensor(2, 9, 8, 4).array.swapaxes(2, 3))), "contiguous last dimension"),
        (dict(q=tensor(2, 10, 4, 8)), r"expected equal sizes of q.size\(1\), o.size\(1\)"),
        (dict(scale=tensor(1)), "argument 'scale': expected a number, got Tensor"),
    ],
)
def test_bad_call(cuda, arguments, message):
    call = dict(q=tensor(2, 9, 4, 8), o=tensor(2, 9, 4, 8), scale=1.0) | arguments
    if message == "expected the arguments":
        del call["scale"]
    with pytest.raises(attn_artifact.ArtifactError, match=message):
        load(cuda).bind(**call)


def test_driver_error_names_the_call(cuda):
    cuda.fail = "cuModuleLoadData"
    with pytest.raises(RuntimeError, match=r"cuModuleLoadData: invalid image \(1\)"):
        load(cuda)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "not an attn artifact"),
        (b".version 8.0\n" * 20, "not an attn artifact"),
        (pack(schema=1), "expected artifact schema 3, got 1"),
        (pack()[:-1], "lengths do not add up"),
        (pack()[:-1] + b"x", "do not match their digest"),
    ],
)
def test_bad_file(data, message):
    with pytest.raises(attn_artifact.ArtifactError, match=message):
        attn_artifact.parse_artifact(data)


def test_workspaces_follow_the_arguments(cuda):
    manifest = copy.deepcopy(MANIFEST)
    manifest["workspaces"] = [{"type": "f32", "shape": [[{"arg": 0, "dim": 1, "div": 64}], [8]]}]
    manifest["kernels"][0]["arguments"] = [3, 2]
    function = load(cuda, manifest)
    made = []

    def allocate(workspace, values):
        shape = [attn_artifact.evaluate(size, values) for size in workspace["shape"]]
        made.append(tensor(*shape))
        return made[-1]

    function._allocate = allocate
    function.bind(q=tensor(2, 100, 4, 8), o=tensor(2, 100, 4, 8), scale=2.0).launch(0)
    [(_, _, _, _, words, scale)] = cuda.launches
    assert words == [made[0].data_ptr(), made[0].data_ptr(), 0, 2, 8, 8, 1]
    assert scale == 2.0


def manifest_with_map():
    manifest = copy.deepcopy(MANIFEST)
    manifest["chip"] = "sm_90a"
    manifest["arguments"][0] |= {"type": "bf16", "shape": [-1, -1, 4, 64]}
    manifest["kernels"][0] |= {
        "grid": [{"arg": 0, "dim": 1, "div": 1}, {"arg": 0, "dim": 0, "div": 1}],
        "persistent": True,
        "arguments": [2],
        "tensor_maps": [{"arg": 0, "rows": 128, "cols": 64}],
    }
    return manifest


class MapCuda(FakeCuda):
    """Keeps the arguments of a launch as they are: the last parameter is a map, not the scale."""

    def cuLaunchKernel(self, *arguments):
        self.launches.append(arguments)
        return 0


@pytest.fixture
def map_cuda():
    return MapCuda()


def test_tensor_maps_and_persistent_grids(map_cuda):
    q = tensor16(2, 100, 4, 64)
    load(map_cuda, manifest_with_map()).bind(q=q, o=tensor(2, 100, 4, 8), scale=0.5).launch(0)
    rows, heads, batches = (step // 2 for step in (q.array.strides[d] for d in (1, 2, 0)))
    assert map_cuda.maps == [{
        "type": 9, "rank": 4, "address": q.data_ptr(), "sizes": (64, 100, 4, 2),
        "strides": (2 * rows, 2 * heads, 2 * batches), "box": (64, 128, 1, 1),
        "steps": (1, 1, 1, 1), "modes": (0, 3, 3, 0),
    }]
    [launch] = map_cuda.launches
    assert launch[1:4] == (108, 1, 1)  # Of 200 tiles: one block for each multiprocessor.
    parameters = launch[9]
    assert len(parameters) == 2
    assert ctypes.string_at(parameters[1], 128) == b"\1" * 128


def test_small_grids_stay_and_single_elements_have_any_stride(map_cuda):
    q = tensor16(1, 5, 4, 64)
    q.stride = lambda dim=None: (7, 512, 128, 1) if dim is None else (7, 512, 128, 1)[dim]
    load(map_cuda, manifest_with_map()).bind(q=q, o=tensor(1, 5, 4, 8), scale=0.5).launch(0)
    assert map_cuda.maps[0]["strides"] == (1024, 256, 16)
    assert map_cuda.launches[0][1] == 5


def test_the_map_of_an_empty_tensor_is_not_encoded(map_cuda):
    load(map_cuda, manifest_with_map()).bind(q=tensor16(2, 0, 4, 64), o=tensor(2, 0, 4, 8), scale=0.5)
    assert map_cuda.maps == []


def test_the_tile_counter_is_zero_and_before_the_maps(map_cuda):
    manifest = manifest_with_map()
    manifest["kernels"][0]["tile_counter"] = True
    function = load(map_cuda, manifest)
    made = []

    def count():
        made.append(Tensor(np.zeros(1, np.int32)))
        return made[-1]

    function._tile_counter = count
    q, o = tensor16(2, 100, 4, 64), tensor(2, 100, 4, 8)
    calls = [function.bind(q=q, o=o, scale=0.5) for _ in range(2)]
    for call in calls:
        call.launch(0)
    assert len(made) == 2
    for launch, counter in zip(map_cuda.launches, made):
        scale, *words, described = launch[9]
        assert ctypes.c_float.from_address(scale).value == 0.5
        address = counter.data_ptr()
        assert [ctypes.c_uint64.from_address(p).value for p in words] == [address, address, 0, 1, 1]
        assert len(ctypes.string_at(described, 128)) == 128


def test_artifact_with_tensor_maps_of_the_compiler(map_cuda, tmp_path):
    path, cache = tmp_path / "kernel.attn", tmp_path / "cache"
    words = ["dtype=bf16", "head_dim=64", "heads_q=4", "lse=false"]
    flags = ["--target", "sm_90a", "--emit", "ptx", "--artifact", "-o", path, "--cache-dir", cache]
    done = attnc("compile", *words, *flags)
    assert done.returncode == 0, done.stderr
    artifact = attn_artifact.read_artifact(path)
    assert b".target sm_90a" in artifact.payload
    function = attn_artifact.Function(artifact, driver=attn_artifact.Driver(map_cuda))
    function._tile_counter = lambda: tensor(1)
    q, k, v, o = (tensor16(2, rows, 4, 64) for rows in (3000, 9, 9, 3000))
    function.bind(q=q, k=k, v=v, o=o, scale=0.5).launch(0)
    [kernel] = artifact.manifest["kernels"]
    described = [(spec["arg"], spec["rows"]) for spec in kernel["tensor_maps"]]
    assert [entry["box"][1] for entry in map_cuda.maps] == [rows for _, rows in described]
    assert [entry["address"] for entry in map_cuda.maps] == [
        (q, k, v, o)[argument].data_ptr() for argument, _ in described
    ]
    assert kernel["persistent"] and map_cuda.launches[0][1] <= 108


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_artifact_of_the_compiler(cuda, tmp_path, target):
    path, cache = tmp_path / "kernel.attn", tmp_path / "cache"
    words = ["dtype=f32", "head_dim=8", "heads_q=4", "mask=causal", "split_kv=3"]
    flags = ["--target", target, "--emit", "ptx", "--artifact", "-o", path, "--cache-dir", cache]
    done = attnc("compile", *words, *flags)
    assert done.returncode == 0, done.stderr
    artifact = attn_artifact.read_artifact(path)
    assert f".target {target}".encode() in artifact.payload
    function = attn_artifact.Function(artifact, driver=attn_artifact.Driver(cuda))
    function._allocate = lambda workspace, values: tensor(
        *(attn_artifact.evaluate(size, values) for size in workspace["shape"])
    )
    q, k, v, o = tensor(2, 100, 4, 8), *(tensor(2, 9, 4, 8) for _ in range(2)), tensor(2, 100, 4, 8)
    function.bind(q=q, k=k, v=v, o=o, lse=tensor(2, 4, 100), scale=0.5).launch(0)
    assert len(cuda.launches) == len(artifact.manifest["kernels"]) == 2
    for kernel in artifact.manifest["kernels"]:
        assert f".entry {kernel['name']}(".encode() in artifact.payload
