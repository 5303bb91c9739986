"""What a measurement was made on: the manifest that goes with every result file."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

GPU_FIELDS = [
    "name",
    "driver_version",
    "clocks.sm",
    "clocks.mem",
    "clocks.max.sm",
    "clocks.max.mem",
    "power.limit",
    "power.draw",
    "temperature.gpu",
    "mig.mode.current",
]


def output_of(*command):
    """What the command prints, or None where it cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def gpu_state(device):
    """nvidia-smi's view of the device; clocks and power are those of this moment."""
    text = output_of(
        "nvidia-smi", f"--id={device}", f"--query-gpu={','.join(GPU_FIELDS)}",
        "--format=csv,noheader",
    )
    return dict(zip(GPU_FIELDS, (cell.strip() for cell in text.split(",")))) if text else {}


def commit():
    """The commit that is measured; a packed build has it in a file."""
    root = Path(__file__).resolve().parents[1]
    packed = root / "COMMIT"
    if packed.exists():
        return packed.read_text().strip()
    return output_of("git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40")


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def host_manifest(attnc=None):
    """What needs neither PyTorch nor a GPU; the load is that of this moment."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": processor(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
        "attnc": output_of(str(attnc), "--version") if attnc else None,
        "commit": commit(),
    }


def manifest(device, attnc=None):
    # Here, since the other manifest is for machines without PyTorch.
    import torch

    properties = torch.cuda.get_device_properties(device)
    return host_manifest(attnc) | {
        "gpu": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "l2_bytes": properties.L2_cache_size,
        "nvidia_smi": gpu_state(device),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
    }
