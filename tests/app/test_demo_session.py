"""The bundled session is the one that its generator tells."""

import gzip
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_bundled_session_is_the_generated_one(tmp_path: Path) -> None:
    target = tmp_path / "session.jsonl.gz"
    command = [sys.executable, str(ROOT / "tools/demo_session/make.py"), str(target)]
    subprocess.run(command, check=True, capture_output=True)
    bundled = ROOT / "server/ullage/data/demo/session.jsonl.gz"
    # Another zlib packs the same text into other bytes.
    assert gzip.decompress(target.read_bytes()) == gzip.decompress(bundled.read_bytes())
