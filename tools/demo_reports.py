"""Output of invented checkers and deployment tools."""

import re
from collections.abc import Sequence
from random import Random

from demo_resources import RESOURCES, Field, Resource

_SQL_TYPES = {
    "int": "INTEGER",
    "bool": "BOOLEAN",
    "datetime": "TIMESTAMP WITH TIME ZONE",
    "date": "DATE",
    "uuid": "UUID",
    "decimal": "NUMERIC(12, 2)",
}


def _sql_type(field: Field) -> str:
    return _SQL_TYPES.get(field.kind, f"VARCHAR({field.max_chars})")


def migration_sql(resources: Sequence[Resource] = RESOURCES) -> str:
    """Write what `alembic upgrade head --sql` prints."""
    random = Random("revisions")
    lines = ["BEGIN;", ""]
    previous = ""
    for number, res in enumerate(resources, 1):
        revision = f"{random.getrandbits(48):012x}"
        lines += [f"-- Running upgrade {previous} -> {revision}, add_{res.plural} ({number:04})", ""]
        lines += [f"CREATE TABLE {res.plural} (", "    id UUID NOT NULL, "]
        for field in res.fields:
            null = " NOT NULL" if field.is_required else ""
            lines.append(f"    {field.name} {_sql_type(field)}{null}, ")
        lines += ["    status VARCHAR(24) NOT NULL, "]
        for column in ("created_at", "updated_at"):
            lines.append(f"    {column} TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL, ")
        lines += ["    deleted_at TIMESTAMP WITH TIME ZONE, ", "    PRIMARY KEY (id)", ");", ""]
        for field in res.fields:
            if field.is_indexed or field.kind == "uuid":
                name = f"ix_{res.plural}_{field.name}"
                lines += [f"CREATE INDEX {name} ON {res.plural} ({field.name});", ""]
        update = f"UPDATE alembic_version SET version_num='{revision}'"
        lines += [f"{update} WHERE alembic_version.version_num = '{previous}';", ""]
        previous = revision
    return "\n".join([*lines, "COMMIT;"])


def sql_echo(resources: Sequence[Resource], pid: int = 4117) -> str:
    """Write what SQLAlchemy logs with `echo=True` while rows are inserted and read."""
    lines: list[str] = []
    for res in resources:
        columns = ", ".join(field.name for field in res.fields)
        marks = ", ".join(
            f"${n}::{_sql_type(field)}" for n, field in enumerate(res.fields, 2)
        )
        values = ", ".join(field.sample.strip('"') for field in res.fields)
        read = ", ".join(f"{res.plural}.{field.name}" for field in res.fields)
        head = f"INFO     sqlalchemy.engine.Engine:base.py:{pid % 1900 + 17}"
        lines += [
            f"{head} SAVEPOINT sa_savepoint_{pid % 7 + 1}",
            f"{head} INSERT INTO {res.plural} (id, {columns}, status) VALUES ($1::UUID, {marks},"
            " $20::VARCHAR) RETURNING created_at, updated_at",
            f"{head} [generated in 0.00031s] (UUID('6f1d0c1e-0000-4000-8000-00000000{pid % 97:04}'),"
            f" {values}, '{res.states[0][0].upper()}')",
            f"{head} RELEASE SAVEPOINT sa_savepoint_{pid % 7 + 1}",
            f"{head} SELECT {res.plural}.id, {read}, {res.plural}.status, {res.plural}.created_at,"
            f" {res.plural}.updated_at FROM {res.plural} WHERE {res.plural}.deleted_at IS NULL AND"
            f" {res.plural}.id = $1::UUID FOR UPDATE",
            f"{head} [cached since 0.0{pid % 9}12s ago] (UUID('6f1d0c1e-0000-4000-8000-00000000"
            f"{pid % 97:04}'),)",
        ]
        pid += 13
    return "\n".join(lines)


def mypy_report(files: dict[str, str], wrong: str, message: str) -> str:
    """Write what mypy says of every line that matches a pattern."""
    lines = [
        f"{path}:{n}: error: {message}"
        for path in sorted(files)
        if path.startswith("app/")
        for n, line in enumerate(files[path].splitlines(), 1)
        if re.search(wrong, line)
    ]
    n_files = len({line.partition(":")[0] for line in lines})
    ending = f"Found {len(lines)} errors in {n_files} files (checked 61 source files)"
    return "\n".join([*lines, ending])


def coverage_report(files: dict[str, str], missing: dict[str, str]) -> str:
    """Write what `pytest --cov` adds at its end."""
    lines = [f"{'Name':<40} Stmts   Miss  Cover   Missing", "-" * 72]
    for path in sorted(path for path in files if path.startswith("app/")):
        n_lines = sum(1 for line in files[path].splitlines() if line.strip()) * 2 // 3
        gaps = missing.get(path, "")
        n_missing = 3 * len(gaps.split(",")) if gaps else 0
        cover = 100 - 100 * n_missing // max(1, n_lines)
        lines.append(f"{path:<40} {n_lines:5}  {n_missing:5}  {cover:4}%   {gaps}".rstrip())
    return "\n".join(lines)


def route_table(resources: Sequence[Resource] = RESOURCES) -> str:
    """Write what `python -m scripts.list_routes` prints."""
    lines: list[str] = []
    for res in resources:
        base = f"/v1/{res.plural}"
        one = f"{base}/{{{res.name}_id}}"
        rows = [
            ("GET", base, f"list_{res.plural}"),
            ("GET", f"{base}/export.csv", f"export_{res.plural}"),
            ("GET", one, f"get_{res.name}"),
            ("POST", base, f"create_{res.name}"),
            ("PATCH", one, f"update_{res.name}"),
            ("DELETE", one, f"delete_{res.name}"),
        ]
        for state, _ in res.states[1:]:
            rows.append(("POST", f"{one}/{state.replace('_', '-')}", f"mark_{res.name}_{state}"))
        lines += [
            f"{method:<7}{path:<48}app.routers.{res.plural}.{name:<32}require_api_key"
            for method, path, name in rows
        ]
    return "\n".join(lines)


def helm_template(values: dict[str, str], n_documents: int = 1) -> str:
    """Write what `helm template` makes of the chart."""
    parts: list[str] = []
    for name in ("api", "webhook-worker", "event-worker", "expiry-job")[:n_documents]:
        env = "\n".join(
            f'            - name: {key}\n              value: "{value}"'
            for key, value in values.items()
        )
        parts.append(_DEPLOYMENT.format(name=name, env=env))
    return "---\n".join(parts)


_DEPLOYMENT = """# Source: parcel-api/templates/{name}.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: parcel-{name}
  labels:
    app.kubernetes.io/name: parcel-{name}
    app.kubernetes.io/part-of: parcel
    app.kubernetes.io/version: 4.11.2
spec:
  replicas: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: {{maxSurge: 1, maxUnavailable: 0}}
  selector:
    matchLabels:
      app.kubernetes.io/name: parcel-{name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: parcel-{name}
    spec:
      serviceAccountName: parcel-{name}
      securityContext: {{runAsNonRoot: true, runAsUser: 10001}}
      containers:
        - name: {name}
          image: registry.parcel.example/parcel-api:4.11.2
          ports:
            - {{name: http, containerPort: 8085}}
          env:
{env}
            - name: PARCEL_DATABASE_URL
              valueFrom:
                secretKeyRef: {{name: parcel-db, key: url}}
          readinessProbe:
            httpGet: {{path: /healthz, port: http}}
            periodSeconds: 5
          livenessProbe:
            httpGet: {{path: /healthz, port: http}}
            periodSeconds: 20
          resources:
            requests: {{cpu: 250m, memory: 256Mi}}
            limits: {{cpu: "1", memory: 512Mi}}
"""


def gateway_config(routes: Sequence[str]) -> str:
    """Write the configuration of the gateway in front of the API, as it is dumped."""
    parts = [
        f"""  - match: {{prefix: {route}}}
    route:
      cluster: parcel-api-8085
      timeout: 15s
      retry_policy: {{retry_on: connect-failure, num_retries: 2}}
    request_headers_to_add:
      - header: {{key: x-forwarded-proto, value: https}}
    response_headers_to_remove: [server, x-powered-by]"""
        for route in routes
    ]
    head = "listener: partner-gateway\nuse_remote_address: true\nxff_num_trusted_hops: 0\nroutes:\n"
    return head + "\n".join(parts)
