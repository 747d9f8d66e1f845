"""The ranks of tiktoken's encodings, from files that are part of the package.

`tools/make_ranks.py` packed them; where they were taken from says data/tokenizers/NOTICE.
"""

import zlib
from collections.abc import Mapping
from itertools import accumulate, pairwise

from ullage.data.packaged import read_packaged

SHA256: Mapping[str, str] = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""What tiktoken demands of the files that it downloads; from these ours are made
(`tools/make_ranks.py`), and a test makes them again from ours."""


def read_ranks(encoding: str) -> dict[bytes, int] | None:
    """Read the tokens of an encoding with their ranks; None where the file is damaged.

    Takes up to 0.1 s.
    """
    try:
        unpacked = zlib.decompress(read_packaged(f"tokenizers/{encoding}.ranks"))
    except (FileNotFoundError, zlib.error):
        return None
    number, _, rest = unpacked.partition(b"\n")
    n_tokens = int(number)
    ends = accumulate(rest[:n_tokens], initial=n_tokens)
    return {rest[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}
