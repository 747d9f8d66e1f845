"""Output of invented commands: test runs, logs, installs, documents."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from random import Random

from demo_resources import RESOURCES, Resource

PODS = ("parcel-api-6d9f7c5b8-x2k4p", "parcel-api-6d9f7c5b8-m7tqz", "parcel-api-6d9f7c5b8-9hd2w")
GATEWAY = "10.20.0.7"
_ROUTES = (
    ("GET", "/v1/parcels"),
    ("GET", "/v1/parcels/track/PX44710098"),
    ("GET", "/v1/shipments"),
    ("POST", "/v1/scans"),
    ("GET", "/v1/webhooks"),
    ("PATCH", "/v1/parcels/PX44710098"),
)
_OPENAPI_TYPES = {"int": "integer", "bool": "boolean", "decimal": "string"}


def test_names(files: dict[str, str], prefix: str = "tests/") -> list[str]:
    """List the tests of a work tree as pytest names them."""
    found: list[str] = []
    for path in sorted(files):
        if path.startswith(prefix) and path.rpartition("/")[2].startswith("test_"):
            names: list[str] = re.findall(r"def (test_\w+)", files[path])
            found += [f"{path}::{name}" for name in names]
    return found


def pytest_head(n_collected: int, n_deselected: int = 0) -> str:
    """Write how a pytest run begins."""
    selected = n_collected - n_deselected
    tail = f" / {n_deselected} deselected / {selected} selected" if n_deselected else ""
    return (
        f"{' test session starts ':=^80}\n"
        "platform linux -- Python 3.12.8, pytest-8.3.4, pluggy-1.5.0 -- .venv/bin/python\n"
        "cachedir: .pytest_cache\nUsing --randomly-seed=2026031200\n"
        "rootdir: /home/you/parcel-api\nconfigfile: pyproject.toml\n"
        "plugins: anyio-4.6.2, randomly-3.16.0, time-machine-2.16.0\n"
        f"collecting ... collected {n_collected} items{tail}\n"
    )


def pytest_lines(names: Sequence[str], failed: Iterable[str] = (), n_total: int = 0) -> str:
    """Write a line for every test that ran."""
    bad = set(failed)
    total = n_total or len(names)
    lines: list[str] = []
    for n, name in enumerate(names, 1):
        verdict = "FAILED" if name.rpartition("::")[2] in bad else "PASSED"
        lines.append(f"{name} {verdict:<40}[{100 * n // total:3}%]")
    return "\n".join(lines)


def pytest_run(
    names: Sequence[str],
    *,
    failed: Sequence[str] = (),
    report: str = "",
    n_deselected: int = 0,
    seconds: float = 4.0,
) -> str:
    """Write a whole pytest run, with the report of its failures."""
    head = pytest_head(len(names) + n_deselected, n_deselected)
    parts = [head, pytest_lines(names, failed), ""]
    if failed:
        parts += [f"{' FAILURES ':=^80}", report.strip("\n")]
        parts += [f"{' short test summary info ':=^80}"]
        parts += [f"FAILED {name}" for name in names if name.rpartition("::")[2] in set(failed)]
    n_passed = len(names) - len(failed)
    counts = [f"{len(failed)} failed"] if failed else []
    counts += [f"{n_passed} passed"] + ([f"{n_deselected} deselected"] if n_deselected else [])
    ending = f" {', '.join(counts)} in {seconds:.2f}s "
    parts.append(f"{ending:=^80}")
    return "\n".join(parts)


def access_log(seed: str, start: datetime, n_lines: int, *, limit: int = 20) -> str:
    """Write the log of the three pods while every customer shares one bucket."""
    random = Random(seed)
    at = start
    n_in_window = 0
    lines: list[str] = []
    for n in range(n_lines):
        at += timedelta(milliseconds=random.choice((110, 140, 230, 480)))
        method, path = random.choice(_ROUTES)
        n_in_window = 0 if n % 61 == 0 else n_in_window + 1
        stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"
        pod = random.choice(PODS)
        if n_in_window > limit:
            lines.append(f"{stamp} {pod} WARNING app.rate_limit rate limited {GATEWAY} {path}")
            lines.append(f'{stamp} {pod} INFO app.access {GATEWAY} "{method} {path}" 429 1ms')
        else:
            took = random.choice((9, 12, 14, 31))
            left = limit - n_in_window
            lines.append(
                f'{stamp} {pod} INFO app.access {GATEWAY} "{method} {path}" 200 {took}ms left={left}'
            )
    return "\n".join(lines[:n_lines])


def redis_monitor(seed: str, start: float, n_requests: int) -> str:
    """Write what `redis-cli -p 6380 monitor` shows of the limiter."""
    random = Random(seed)
    at = start
    lines = ["OK"]
    for _ in range(n_requests):
        at += random.choice((0.118, 0.204, 0.377))
        head = f"{at:.6f} [0 10.30.1.{random.choice((14, 15, 22))}:50112]"
        name = f"ratelimit:{GATEWAY}"
        lines += [
            f'{head} "MULTI"',
            f'{head} "ZREMRANGEBYSCORE" "{name}" "0" "{int(at) - 60}"',
            f'{head} "ZADD" "{name}" "{at - 0.0004:.6f}" "{at - 0.0004:.6f}"',
            f'{head} "ZCARD" "{name}"',
            f'{head} "EXPIRE" "{name}" "60"',
            f'{head} "EXEC"',
        ]
    return "\n".join(lines)


def openapi(resources: Sequence[Resource] = RESOURCES) -> str:
    """Write the OpenAPI document of some resources."""
    paths: dict[str, object] = {}
    schemas: dict[str, object] = {}
    for res in resources:
        paths[f"/v1/{res.plural}"] = {
            "get": _operation(res, "list", "Page", "200"),
            "post": _operation(res, "create", "Out", "201", body="Create"),
        }
        paths[f"/v1/{res.plural}/{{{res.name}_id}}"] = {
            "get": _operation(res, "get", "Out", "200"),
            "patch": _operation(res, "update", "Out", "200", body="Update"),
        }
        schemas[f"{res.class_name}Create"] = _openapi_schema(res)
        schemas[f"{res.class_name}Update"] = _openapi_schema(res) | {"required": []}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "parcel-api", "version": "4.11.2"},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    return json.dumps(document, indent=2)


def _operation(
    res: Resource, verb: str, answer: str, code: str, body: str | None = None
) -> dict[str, object]:
    content = {"schema": {"$ref": f"#/components/schemas/{res.class_name}{answer}"}}
    operation: dict[str, object] = {
        "tags": [res.plural],
        "operationId": f"{verb}_{res.name}",
        "parameters": [{"name": "x-api-key", "in": "header", "schema": {"type": "string"}}],
        "responses": {code: {"description": "OK", "content": {"application/json": content}}},
    }
    if body is not None:
        reference = {"$ref": f"#/components/schemas/{res.class_name}{body}"}
        operation["requestBody"] = {"content": {"application/json": {"schema": reference}}}
    return operation


def _openapi_schema(res: Resource) -> dict[str, object]:
    properties: dict[str, object] = {}
    for field in res.fields:
        kind = _OPENAPI_TYPES.get(field.kind, "string")
        shape: dict[str, object] = {"type": kind, "description": field.note}
        if field.kind == "str":
            shape |= {"minLength": 1, "maxLength": field.max_chars}
        elif kind == "string" and field.kind != "decimal":
            shape["format"] = "date-time" if field.kind == "datetime" else field.kind
        properties[field.name] = shape
    required = [field.name for field in res.fields if field.is_required]
    return {"type": "object", "properties": properties, "required": required}


def table_definition(res: Resource) -> str:
    """Write what psql's `\\d` shows of a table."""
    kinds = {
        "int": "integer",
        "bool": "boolean",
        "datetime": "timestamp with time zone",
        "uuid": "uuid",
        "decimal": "numeric(12,2)",
        "date": "date",
    }
    rows = [("id", "uuid", "not null")]
    rows += [
        (
            field.name,
            kinds.get(field.kind, f"character varying({field.max_chars})"),
            "not null" if field.is_required else "",
        )
        for field in res.fields
    ]
    rows += [("status", "character varying(24)", "not null")]
    rows += [(name, kinds["datetime"], "not null") for name in ("created_at", "updated_at")]
    rows += [("deleted_at", kinds["datetime"], "")]
    title = f'Table "public.{res.plural}"'
    lines = [f"{title:^60}"]
    lines += [f" {'Column':<20} | {'Type':<26} | Nullable", f"{'-' * 22}+{'-' * 28}+{'-' * 10}"]
    lines += [f" {name:<20} | {kind:<26} | {null}" for name, kind, null in rows]
    lines += ["Indexes:", f'    "pk_{res.plural}" PRIMARY KEY, btree (id)']
    indexed = [field for field in res.fields if field.is_indexed or field.kind == "uuid"]
    lines += [f'    "ix_{res.plural}_{field.name}" btree ({field.name})' for field in indexed]
    return "\n".join(lines)


def pip_install(packages: Sequence[tuple[str, str]], already: Sequence[tuple[str, str]]) -> str:
    """Write the log of an install that works."""
    lines = [
        f"Requirement already satisfied: {name} in ./.venv/lib/python3.12/site-packages ({version})"
        for name, version in already
    ]
    for name, version in packages:
        lines += [f"Collecting {name}", f"  Using cached {name}-{version}-py3-none-any.whl"]
    lines.append("Installing collected packages: " + ", ".join(name for name, _ in packages))
    lines.append("Successfully installed " + " ".join(f"{n}-{v}" for n, v in packages))
    return "\n".join(lines)


def npm_install(seed: str, n_packages: int) -> str:
    """Write the log of `npm ci --loglevel http`."""
    random = Random(seed)
    names = ("undici", "esbuild", "tsx", "prettier", "eslint", "typescript", "globals", "acorn")
    lines = [
        f"npm http fetch GET 200 https://registry.npmjs.org/{random.choice(names)}/-/"
        f"pkg-{random.randint(1, 9)}.{random.randint(0, 20)}.0.tgz {random.choice((21, 34, 58))}ms"
        " (cache hit)"
        for _ in range(n_packages)
    ]
    lines += [
        "npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported",
        f"added {n_packages} packages, and audited {n_packages + 1} packages in 9s",
        "found 0 vulnerabilities",
    ]
    return "\n".join(lines)


def git_log(commits: Sequence[tuple[str, str, str]], files: Sequence[str]) -> str:
    """Write `git log --stat`."""
    random = Random("git log")
    lines: list[str] = []
    for commit, day, subject in commits:
        lines += [f"commit {commit}", "Author: you <you@parcel.example>", f"Date:   {day}", ""]
        lines += [f"    {subject}", ""]
        touched = random.sample(list(files), 3)
        lines += [f" {name:<34} | {random.randint(2, 60):3} ++++---" for name in sorted(touched)]
        lines += [" 3 files changed", ""]
    return "\n".join(lines)
