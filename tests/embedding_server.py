"""An embedding server on loopback, and what it may answer that a good one does not."""

import base64
import hashlib
import json
import struct
from collections.abc import Sequence

from model_faults import Row, bad, wire_rows
from model_server import END, Asked, Reply, chunked, error_reply, head
from model_session import CANARY
from ullage.errors import ContextOverflow

KIND = "application/json"
START = head(200, KIND, transfer_encoding="chunked")
N_DIMENSIONS = 8
MODEL = "tiny-embedder"
TEXTS = (f"The cellar is dry {CANARY}.", "Invoices are rounded half to even.", "A third thing.")
VECTORS = "vectors"


def vector_of(text: str, n_dimensions: int = N_DIMENSIONS) -> list[float]:
    """Make a vector of words: texts that share words are near to each other."""
    vector = [0.01] * n_dimensions
    for word in text.lower().replace(".", " ").replace(":", " ").split():
        vector[hashlib.sha256(word.encode()).digest()[0] % n_dimensions] += 1.0
    return vector


def rows_of(texts: Sequence[str], n_dimensions: int = N_DIMENSIONS) -> list[dict]:
    return [
        {"object": "embedding", "index": at, "embedding": vector_of(text, n_dimensions)}
        for at, text in enumerate(texts)
    ]


def answered(rows: object, model: str | None = MODEL) -> Reply:
    """Answer with rows as OpenAI does, in three pieces."""
    usage = {"prompt_tokens": 12, "total_tokens": 12}
    body = {"object": "list", "data": rows, "model": model, "usage": usage}
    data = json.dumps(body).encode()
    third = len(data) // 3
    parts = (data[:third], data[third : 2 * third], data[2 * third :])
    return (START, *map(chunked, parts), END)


def texts_of(asked: Asked) -> list[str]:
    return json.loads(asked.body)["input"]


def embed_asked(asked: Asked) -> Reply:
    """Answer a request as a good server does."""
    wanted = json.loads(asked.body)
    n_dimensions = wanted.get("dimensions", N_DIMENSIONS)
    return answered(rows_of(wanted["input"], n_dimensions), wanted["model"])


def overflow(message: str, status: int = 400, **fields: object) -> Row:
    # As it is, and three times with half of each text.
    return Row(ContextOverflow, 4, (error_reply(status, {"error": {"message": message} | fields}),))


def json_body(text: str) -> Row:
    return bad((START, chunked(text.encode()), END))


def with_vectors(*vectors: object) -> Row:
    return bad(answered([{"index": at, "embedding": each} for at, each in enumerate(vectors)]))


GOOD = rows_of(TEXTS)
FINE = answered(GOOD)
PERMUTED = answered([GOOD[2], GOOD[0], GOOD[1]])
UNNUMBERED = answered([{"embedding": row["embedding"]} for row in GOOD])
PACKED = base64.b64encode(struct.pack("<8f", *([0.5] * 8))).decode()

ROWS: dict[str, Row] = wire_rows(VECTORS, FINE, FINE[1], KIND, overflow) | {
    "the rows are permuted": Row(VECTORS, 1, (PERMUTED,)),
    "the rows have no numbers": Row(VECTORS, 1, (UNNUMBERED,)),
    "no name of a model": Row(VECTORS, 1, (answered(GOOD, None),)),
    "a stream of events": bad((head(), b"data: {}\n\n")),
    "too few vectors": bad(answered(GOOD[:2])),
    "too many vectors": bad(answered([*GOOD, GOOD[0] | {"index": 3}])),
    "one vector too many, in a place that is taken": bad(answered([*GOOD, GOOD[1]])),
    "no vectors": bad(answered([])),
    "one place twice": bad(answered([GOOD[0], GOOD[1], GOOD[1]])),
    "places from 1": bad(answered([row | {"index": row["index"] + 1} for row in GOOD])),
    "vectors of several lengths": with_vectors([1.0], [1.0, 0.5], [1.0, 0.5]),
    "a vector that is empty": with_vectors([], [], []),
    "a vector of zeros": with_vectors([1.0, 0.5], [0.0, 0.0], [0.5, 0.5]),
    "not a number": json_body('{"data": [{"embedding": [NaN, 1], "index": 0}]}'),
    "infinite": json_body('{"data": [{"embedding": [1e999, 1], "index": 0}]}'),
    "null in a vector": with_vectors([1.0, None], [1.0, 0.5], [1.0, 0.5]),
    "texts in a vector": with_vectors(["1", "2"], [1.0, 0.5], [1.0, 0.5]),
    "base64 in place of floats": with_vectors(PACKED, PACKED, PACKED),
    "a vector in a vector": with_vectors([[1.0]], [[1.0]], [[1.0]]),
    "a chat in place of vectors": json_body('{"choices": [{"message": {"content": "hi"}}]}'),
    "an error with status 200": json_body('{"error": {"message": "no such model"}}'),
    "wrong JSON": json_body("{'data': []}"),
    "JSON nested a million deep": json_body('{"data": ' + "[" * 1_000_000),
}
