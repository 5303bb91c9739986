"""Launches kernels on a GPU through the CUDA driver, with nothing but its library."""

import ctypes
import multiprocessing
import re

import numpy as np

import l3

TIMEOUT_S = 20
DYNAMIC_SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class Cuda:
    """A process that launches cases. A kernel that fails leaves its process useless, so that a new
    one goes on with the next case."""

    def __init__(self, options):
        match = re.fullmatch(r"cuda:(\d+)", options.device)
        if not match or not options.ptx:
            raise SystemExit("--device: expected emulate, or cuda:N with --ptx FOLDER")
        self.ordinal, self.folder, self.process = int(match[1]), options.ptx, None

    def load(self, family, cases):
        self.family, self.cases = family, cases

    def run(self, case):
        if not self.process:
            self.pipe, there = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=self.serve, args=(there,))
            self.process.start()
        self.pipe.send(next(i for i, other in enumerate(self.cases) if other is case))
        fault, outputs = self.pipe.recv() if self.pipe.poll(TIMEOUT_S) else ("hangs", None)
        if fault:
            self.unload()
        return fault, outputs

    def unload(self):
        if self.process:
            self.process.terminate()
            self.process.join()
            self.process = None

    def serve(self, pipe):
        try:
            driver = Driver(self.ordinal, self.folder / f"{self.family}.ptx")
        except RuntimeError as error:
            driver = None
            fault = str(error)
        while True:
            case = self.cases[pipe.recv()]
            try:
                pipe.send((None, driver.launch(case)) if driver else (fault, None))
            except RuntimeError as error:
                pipe.send((str(error), None))


class Driver:
    """One module on one device."""

    def __init__(self, ordinal, path):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), ordinal)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(5, 6)  # The error log and its size.
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(self.module), path.read_bytes() + b"\0", 2,
                      options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{path.name}: {error}: {log.value.decode()}") from None

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def encode(self, argument, pointers):
        """A CUtensorMap, whose address must be a multiple of 64."""
        raw = ctypes.create_string_buffer(192)
        start = -ctypes.addressof(raw) % 64
        map_ = (ctypes.c_char * 128).from_buffer(raw, start)
        rank = len(argument.sizes)
        self.call("cuTensorMapEncodeTiled", ctypes.byref(map_), argument.element, rank,
                  ctypes.c_void_p(pointers[argument.argument].value + argument.offset),
                  (ctypes.c_uint64 * rank)(*argument.sizes),
                  (ctypes.c_uint64 * max(rank - 1, 1))(*(argument.strides or (0,))),
                  (ctypes.c_uint32 * rank)(*argument.box),
                  (ctypes.c_uint32 * rank)(*argument.steps[:rank]),
                  0, argument.swizzle, 0, argument.nan)
        return map_, raw

    def launch(self, case):
        function, pointers, values, kept = ctypes.c_void_p(), {}, [], []
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module,
                  case.kernel.name.encode())
        self.call("cuFuncSetAttribute", function, DYNAMIC_SHARED_BYTES, case.shared)
        for index, argument in enumerate(case.arguments):
            if isinstance(argument, l3.Buffer):
                data = np.ascontiguousarray(argument.data)
                pointer = ctypes.c_uint64()
                self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(data.nbytes))
                self.call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(data.ctypes.data),
                          ctypes.c_size_t(data.nbytes))
                pointers[index] = pointer
                if argument.passed:
                    values.append(pointer)
            elif isinstance(argument, l3.Map):
                map_, raw = self.encode(argument, pointers)
                kept.append(raw)
                values.append(map_)
            elif isinstance(argument, tuple):
                kind = {"i64": ctypes.c_int64, "f32": ctypes.c_float}[argument[0]]
                values.append(kind(argument[1]))
            else:
                values.append(ctypes.c_int32(int(argument)))
        parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        grid = case.ctas if isinstance(case.ctas, tuple) else (case.ctas, 1, 1)
        self.call("cuLaunchKernel", function, *grid, case.kernel.threads, 1, 1, case.shared, None,
                  parameters, None)
        self.call("cuCtxSynchronize")
        outputs = {}
        for index, argument in enumerate(case.arguments):
            if isinstance(argument, l3.Buffer) and argument.expected is not None:
                out = np.empty(argument.expected.size, argument.expected.dtype)
                self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), pointers[index],
                          ctypes.c_size_t(out.nbytes))
                outputs[index] = out
        for pointer in pointers.values():
            self.call("cuMemFree_v2", pointer)
        return outputs
