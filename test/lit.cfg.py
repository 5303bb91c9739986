"""The lit suite: which files are tests, what their RUN lines can call, what this machine has."""

import ctypes
import os
import shutil

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "python", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_build_root, "test")


def cuda_compute_capability():
    """(major, minor) of device 0, or None without a driver or a device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0):
        return None
    capability = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{MAJOR,MINOR}
        value = ctypes.c_int()
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device):
            return None
        capability.append(value.value)
    return tuple(capability)


tool_folders = [os.path.join(config.attn_build_root, "bin"), config.llvm_tools]
path = os.pathsep.join(tool_folders + [os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
config.environment["PATH"] = path

ptxas = shutil.which("ptxas", path=path)
if ptxas:
    config.available_features.add("ptxas")
capability = cuda_compute_capability()
if capability:
    config.available_features.add("cuda")
    # sm_80 kernels run on every later chip; sm_90a ones on compute capability 9.0 alone.
    if capability >= (8, 0):
        config.available_features.add("sm80")
    if capability == (9, 0):
        config.available_features.add("sm90")

config.substitutions += [
    ("%data", os.path.join(config.attn_source_root, "examples", "data")),
    ("%examples", os.path.join(config.attn_source_root, "examples")),
    ("%python", config.attn_python),
    ("%cxx", config.cxx),
    ("%ptxas", ptxas or "ptxas"),
]

config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=all"
# Tests never see or fill the user's kernel cache.
config.environment["ATTN_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
