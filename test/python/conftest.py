import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
# The package as the build made it, where the build has it.
BUILT = Path(os.environ.get("ATTN_BUILD_DIR", ROOT / "build" / "release")) / "python"
if BUILT.exists():
    sys.path.insert(0, str(BUILT))
