import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
# The package as the build made it, where the build has it.
BUILT = Path(os.environ.get("ATTN_BUILD_DIR", ROOT / "build" / "release")) / "python"
if BUILT.exists():
    sys.path.insert(0, str(BUILT))
# What one run compiles is not there for the next.
CACHE = tempfile.mkdtemp(prefix="attn-test-cache-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
os.environ["ATTN_CACHE_DIR"] = CACHE
