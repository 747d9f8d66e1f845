"""The table of models in the package, made by `tools/make_models.py` (docs/design/models.md)."""

from collections.abc import Iterator
from functools import cache, lru_cache

from ullage.core.gauge.window import ModelRow, strip_model
from ullage.data.packaged import read_packaged

ANY = "*"
"""Stands for what most say: of an agent's providers, of all catalogues; or for an agent's figure
for models that it does not know."""


@lru_cache(maxsize=64)
def find_model(agent: str | None, provider: str | None, model: str | None) -> ModelRow | None:
    """Find the row of a model: the agent's own, else what most catalogues say.

    The file is searched, not read: a row takes 0.1 ms, all of them 15.
    """
    return next(_find_rows(agent, provider, model), None)


def find_priced_model(
    agent: str | None, provider: str | None, model: str | None
) -> ModelRow | None:
    """Find the first row of a model that tells a price: an agent's own may tell but its window."""
    rows = _find_rows(agent, provider, model)
    return next((row for row in rows if row.prices[0] is not None), None)


def _find_rows(agent: str | None, provider: str | None, model: str | None) -> Iterator[ModelRow]:
    if model is None or model.split() != [model]:
        names = iter(() if agent is None else (f"{agent}/{ANY}",))
    else:
        names = row_names(agent, (provider or "").lower(), model.lower())
    rows = (_find_row(read_table(), name) for name in names)
    return (row for row in rows if row is not None)


@cache
def read_table() -> bytes:
    return read_packaged("models.tsv")


def row_names(agent: str | None, provider: str, model: str) -> Iterator[str]:
    """Name the rows that may be a model's, the one to take first; in small letters."""
    stripped = strip_model(model)
    if agent is not None:
        for name in dict.fromkeys((model, stripped)):
            yield f"{agent}/{provider}/{name}" if provider else f"{agent}/{name}"
            yield f"{agent}/{ANY}/{name}"
        yield f"{agent}/{ANY}"
    yield f"{ANY}/{stripped}"


def _find_row(table: bytes, name: str) -> ModelRow | None:
    """Find the row that has a name among those in its first column, which blanks part."""
    key = name.encode("utf-8", "surrogatepass")
    for before in (b"\n", b" "):
        at = table.find(before + key)
        while at != -1:
            after = at + 1 + len(key)
            if table[after : after + 1] in (b"\t", b" "):
                start = table.rindex(b"\n", 0, at + 1) + 1
                return _read_row(table, table[start : table.index(b"\n", start)])
            at = table.find(before + key, after)
    return None


def _read_row(table: bytes, line: bytes) -> ModelRow:
    names, letters, window, larger, *prices = line.decode().split("\t")
    sources = [_read_source(table, letter) for letter in letters]
    others = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    return ModelRow(
        name=names.partition(" ")[0],
        window_tokens=int(window),
        larger=tuple(map(int, larger.split())),
        prices=tuple(float(price) if price else None for price in prices),
        source=f"{sources[0][0]}{others}, {max(day for _, day in sources)}",
    )


def _read_source(table: bytes, letter: str) -> tuple[str, str]:
    """Read what the head of the file says behind a letter: a package and its day."""
    start = table.index(f"\n#{letter}\t".encode()) + 4
    package, day = table[start : table.index(b"\n", start)].decode().split("\t")
    return package, day
