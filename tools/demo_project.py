"""The invented parcel API as it stands before the session: what no resource gives."""

from demo_resources import RESOURCES
from demo_templates import files_of

README = """# parcel-api

Tracking of parcels and shipments for shops, depots and carriers. FastAPI, SQLAlchemy 2 (async),
PostgreSQL 16, Redis 7, Alembic. Python 3.12.

## Running it

    cp .env.example .env
    docker compose up -d postgres redis
    make migrate
    make run            # http://localhost:8085

The OpenAPI document is at `/openapi.json`, the health check at `/healthz`.

## Settings

Every setting is an environment variable with the prefix `PARCEL_`; see `app/config.py`. The chart
in `deploy/helm` sets them for staging and production.

| variable | default | meaning |
|---|---|---|
| `PARCEL_PORT` | 8085 | port of the HTTP server |
| `PARCEL_DATABASE_URL` | (none) | PostgreSQL, with the driver asyncpg |
| `PARCEL_REDIS_URL` | `redis://localhost:6380/0` | rate limiter and event bus |
| `PARCEL_API_KEYS` | (none) | hashes of the static API keys, comma separated |
| `PARCEL_RATELIMIT_PER_MINUTE` | 20 | requests a minute and client |
| `PARCEL_EVENT_CHANNEL` | `parcel-events` | channel of the event bus |

Redis listens on 6380 because the old label printer service owns 6379 on the depot machines.

## Migrations

`make migration name=add_something` writes a revision below `migrations/versions`, `make migrate`
applies it. Revisions are numbered; the number and the Alembic id are both in the file.

## Tests

`make test` runs everything against the shared staging Redis and a local PostgreSQL.
"""

PYPROJECT = """[project]
name = "parcel-api"
version = "4.11.2"
requires-python = ">=3.12,<3.13"
dependencies = [
    "alembic>=1.13,<2",
    "asyncpg>=0.29,<0.31",
    "cryptography>=42,<43",
    "fastapi>=0.115,<0.116",
    "pydantic>=2.9,<3",
    "pydantic-settings>=2.5,<3",
    "redis>=5.1,<6",
    "sqlalchemy[asyncio]>=2.0.35,<2.1",
    "uvicorn[standard]>=0.31,<0.32",
]

[project.optional-dependencies]
dev = [
    "anyio>=4.6",
    "httpx>=0.27",
    "mypy>=1.12",
    "pytest>=8.3",
    "pytest-randomly>=3.15",
    "ruff>=0.7",
    "time-machine>=2.16",
]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-ra --strict-markers"
markers = ["slow: takes more than ten seconds", "redis: needs the shared Redis"]

[tool.ruff]
line-length = 100
target-version = "py312"

[tool.ruff.lint]
select = ["E", "F", "I", "UP", "B", "ANN", "D1", "RUF"]

[tool.mypy]
strict = true
plugins = ["pydantic.mypy"]
"""

MAKEFILE = """.PHONY: run test lint types migrate migration keys openapi

run:
\tuvicorn app.main:app --port $${PARCEL_PORT:-8085} --reload

test:
\tpytest

lint:
\truff check app tests
\truff format --check app tests

types:
\tmypy app

migrate:
\talembic upgrade head

migration:
\t@test -n "$(name)" || (echo "usage: make migration name=add_something" && exit 1)
\talembic revision --autogenerate -m "$(name)" --rev-id "$$(python -m scripts.next_revision)"
\tpython -m scripts.number_revision

openapi:
\tpython -m scripts.dump_openapi > docs/openapi.json
"""

CONFIG = '''"""Settings, read from the environment once."""

from functools import cache

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every setting of the service; the environment variables have the prefix PARCEL_."""

    model_config = SettingsConfigDict(env_prefix="PARCEL_", env_file=".env", extra="ignore")

    port: int = Field(8085, ge=1, le=65535)
    database_url: SecretStr
    redis_url: str = "redis://localhost:6380/0"
    api_keys: str = ""
    """Hashes of the static keys, comma separated."""
    event_channel: str = "parcel-events"
    log_level: str = "INFO"
    ratelimit_per_minute: int = Field(20, ge=1)
    ratelimit_burst: int = Field(0, ge=0)
    webhook_timeout_s: float = 8.0
    webhook_workers: int = 4
    cors_origins: str = "https://track.parcel.example"

    @property
    def api_key_hashes(self) -> frozenset[str]:
        """Give the hashes of the keys that are accepted."""
        return frozenset(part.strip() for part in self.api_keys.split(",") if part.strip())


@cache
def get_settings() -> Settings:
    """Read the settings once a process."""
    return Settings()
'''

MAIN = '''"""The application: routers, middleware, error handlers."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from redis.asyncio import Redis

from app.config import get_settings
from app.db import dispose_engine
from app.errors import install_error_handlers
from app.events import EventBus
from app.rate_limit import RateLimitMiddleware
from app.routers import (
    carriers,
    customers,
    depots,
    labels,
    parcels,
    scans,
    shipments,
    webhooks,
)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open what lives as long as the process, and close it again."""
    settings = get_settings()
    app.state.redis = Redis.from_url(settings.redis_url, decode_responses=True)
    app.state.events = EventBus(app.state.redis, settings.event_channel)
    logger.info("parcel-api is up on port %d", settings.port)
    yield
    await app.state.redis.aclose()
    await dispose_engine()


def create_app() -> FastAPI:
    """Build the application."""
    settings = get_settings()
    logging.basicConfig(level=settings.log_level)
    app = FastAPI(title="parcel-api", version="4.11.2", lifespan=lifespan)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_origins.split(","),
        allow_methods=["GET", "POST", "PATCH", "DELETE"],
        allow_headers=["Authorization", "X-Api-Key", "Content-Type"],
    )
    app.add_middleware(RateLimitMiddleware, limit=settings.ratelimit_per_minute)
    install_error_handlers(app)
    for module in (parcels, shipments, webhooks, carriers, scans, customers, depots, labels):
        app.include_router(module.router)

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return app


app = create_app()
'''

DEPS = '''"""What routes depend on: who calls."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header

from app.config import Settings, get_settings
from app.errors import AuthError


@dataclass(frozen=True)
class Caller:
    """Who made a request."""

    caller_id: str
    kind: str


async def require_api_key(
    settings: Annotated[Settings, Depends(get_settings)],
    x_api_key: Annotated[str | None, Header()] = None,
) -> Caller:
    """Accept a static API key; 401 without one or with a wrong one."""
    if x_api_key is None:
        raise AuthError("AUTH_KEY_MISSING", "The header X-Api-Key is missing.")
    digest = hashlib.sha256(x_api_key.encode()).hexdigest()
    if not any(hmac.compare_digest(digest, known) for known in settings.api_key_hashes):
        raise AuthError("AUTH_KEY_INVALID", "The API key is not known.")
    return Caller(caller_id=f"key:{digest[:8]}", kind="api_key")
'''

ERRORS = '''"""Errors of the service and how they look over HTTP."""

from uuid import UUID

from fastapi import FastAPI, Request, status
from fastapi.responses import JSONResponse


class ServiceError(Exception):
    """Base of all errors that a client may see."""

    status_code = status.HTTP_400_BAD_REQUEST
    code = "BAD_REQUEST"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFoundError(ServiceError):
    """There is no such thing, or the caller may not know of it."""

    status_code = status.HTTP_404_NOT_FOUND
    code = "NOT_FOUND"

    def __init__(self, kind: str, identifier: UUID | str) -> None:
        super().__init__(f"There is no {kind} {identifier}.")


class ConflictError(ServiceError):
    """A value that must be unique is taken."""

    status_code = status.HTTP_409_CONFLICT
    code = "CONFLICT"

    def __init__(self, kind: str, field: str, value: str) -> None:
        super().__init__(f"There is a {kind} with {field} {value} already.")


class StateError(ServiceError):
    """A change of state is not allowed."""

    status_code = status.HTTP_409_CONFLICT
    code = "STATE_CONFLICT"

    def __init__(self, kind: str, old: str, new: str) -> None:
        super().__init__(f"A {kind} cannot go from {old} to {new}.")


class AuthError(ServiceError):
    """The caller is not known."""

    status_code = status.HTTP_401_UNAUTHORIZED

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RateLimitedError(ServiceError):
    """The caller asks too often."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    code = "RATE_LIMITED"

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"Too many requests; try again in {retry_after_s} seconds.")
        self.retry_after_s = retry_after_s


def install_error_handlers(app: FastAPI) -> None:
    """Let every service error become a small JSON body with a code and a message."""

    @app.exception_handler(ServiceError)
    async def handle(request: Request, error: ServiceError) -> JSONResponse:
        headers = {}
        if isinstance(error, RateLimitedError):
            headers["Retry-After"] = str(error.retry_after_s)
        if isinstance(error, AuthError):
            headers["WWW-Authenticate"] = "Bearer"
        body = {"code": error.code, "message": error.message}
        return JSONResponse(body, status_code=error.status_code, headers=headers)
'''

DB = '''"""The database: engine, sessions, declarative base."""

from collections.abc import AsyncIterator
from functools import cache

from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import DeclarativeBase

from app.config import get_settings


class Base(DeclarativeBase):
    """Base of all tables."""


@cache
def get_engine() -> AsyncEngine:
    """Open the pool once a process."""
    url = get_settings().database_url.get_secret_value()
    return create_async_engine(url, pool_size=10, max_overflow=5, pool_pre_ping=True)


@cache
def get_sessionmaker() -> async_sessionmaker[AsyncSession]:
    """Give the maker of sessions."""
    return async_sessionmaker(get_engine())


async def get_session() -> AsyncIterator[AsyncSession]:
    """Give a session for one request; commit at its end, roll back on errors."""
    async with get_sessionmaker()() as session, session.begin():
        yield session


async def dispose_engine() -> None:
    """Close the pool."""
    await get_engine().dispose()
'''

RATE_LIMIT = '''"""The rate limiter: a sliding window of one minute in Redis."""

import logging
import time
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from redis.asyncio import Redis
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.types import ASGIApp

from app.errors import RateLimitedError

logger = logging.getLogger(__name__)

WINDOW_S = 60
EXEMPT_PATHS = frozenset({"/healthz", "/openapi.json"})


class SlidingWindow:
    """Counts requests of the last minute, one sorted set a client."""

    def __init__(self, redis: Redis, limit: int) -> None:
        self._redis = redis
        self._limit = limit

    async def hit(self, key: str) -> int:
        """Count a request; raises RateLimitedError above the limit, else gives what is left."""
        now = time.time()
        name = f"ratelimit:{key}"
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zremrangebyscore(name, 0, int(now) - WINDOW_S)
            pipe.zadd(name, {f"{now:.6f}": now})
            pipe.zcard(name)
            pipe.expire(name, WINDOW_S)
            _, _, n_hits, _ = await pipe.execute()
        if n_hits > self._limit:
            raise RateLimitedError(await self._retry_after(name, now))
        return self._limit - int(n_hits)

    async def _retry_after(self, name: str, now: float) -> int:
        oldest = await self._redis.zrange(name, 0, 0, withscores=True)
        if not oldest:
            return 1
        return max(1, int(oldest[0][1] + WINDOW_S - now))


class RateLimitMiddleware(BaseHTTPMiddleware):
    """Limits the requests of every client."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        super().__init__(app)
        self._limit = limit

    async def dispatch(
        self, request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Count the request and let it pass, or answer with 429."""
        if request.url.path in EXEMPT_PATHS:
            return await call_next(request)
        window = SlidingWindow(request.app.state.redis, self._limit)
        try:
            remaining = await window.hit(client_key(request))
        except RateLimitedError as error:
            logger.warning("rate limited %s %s", client_key(request), request.url.path)
            return JSONResponse(
                {"code": error.code, "message": error.message},
                status_code=error.status_code,
                headers={"Retry-After": str(error.retry_after_s)},
            )
        response = await call_next(request)
        response.headers["X-RateLimit-Remaining"] = str(remaining)
        return response


def client_key(request: Request) -> str:
    """Name the client whose requests are counted together."""
    return request.client.host if request.client else "unknown"
'''

TEST_RATE_LIMIT = '''"""The rate limiter."""

from datetime import UTC, datetime

import pytest
import time_machine
from httpx import AsyncClient

from app.rate_limit import WINDOW_S
from tests.support import API_KEY

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


@pytest.mark.parametrize("limit", [1, 5, 120])
async def test_limit_is_per_minute(limited_client: AsyncClient, limit: int) -> None:
    for _ in range(limit):
        assert (await limited_client.get("/v1/parcels", headers=API_KEY)).status_code == 200
    response = await limited_client.get("/v1/parcels", headers=API_KEY)
    assert response.status_code == 429
    assert response.json()["code"] == "RATE_LIMITED"
    assert 1 <= int(response.headers["Retry-After"]) <= WINDOW_S


async def test_window_resets_after_sixty_seconds(limited_client: AsyncClient) -> None:
    with time_machine.travel(datetime.now(UTC), tick=True) as clock:
        for _ in range(5):
            await limited_client.get("/v1/parcels", headers=API_KEY)
        assert (await limited_client.get("/v1/parcels", headers=API_KEY)).status_code == 429
        clock.shift(WINDOW_S + 0.5)
        assert (await limited_client.get("/v1/parcels", headers=API_KEY)).status_code == 200


async def test_health_is_exempt(limited_client: AsyncClient) -> None:
    for _ in range(30):
        assert (await limited_client.get("/healthz")).status_code == 200


async def test_remaining_is_reported(limited_client: AsyncClient) -> None:
    first = await limited_client.get("/v1/parcels", headers=API_KEY)
    second = await limited_client.get("/v1/parcels", headers=API_KEY)
    left = [int(response.headers["X-RateLimit-Remaining"]) for response in (first, second)]
    assert left[0] - left[1] == 1
'''

CONFTEST = '''"""Fixtures: a database that is rolled back, a client, makers of rows."""

from collections.abc import AsyncIterator

import pytest
from httpx import ASGITransport, AsyncClient
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, create_async_engine

from app.config import Settings, get_settings
from app.db import Base, get_session
from app.main import create_app
from tests.support import API_KEY_HASH, TEST_DATABASE_URL, TEST_REDIS_URL, Make, maker_of


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def connection(anyio_backend: str) -> AsyncIterator[AsyncConnection]:
    engine = create_async_engine(TEST_DATABASE_URL)
    async with engine.connect() as connection:
        await connection.run_sync(Base.metadata.create_all)
        yield connection
    await engine.dispose()


@pytest.fixture
async def session(connection: AsyncConnection) -> AsyncIterator[AsyncSession]:
    outer = await connection.begin()
    async with AsyncSession(connection, join_transaction_mode="create_savepoint") as session:
        yield session
    await outer.rollback()


@pytest.fixture
def settings() -> Settings:
    return Settings(
        database_url=TEST_DATABASE_URL,
        redis_url=TEST_REDIS_URL,
        api_keys=API_KEY_HASH,
        ratelimit_per_minute=100_000,
    )


@pytest.fixture
async def client(session: AsyncSession, settings: Settings) -> AsyncIterator[AsyncClient]:
    app = create_app()
    app.dependency_overrides[get_session] = lambda: session
    app.dependency_overrides[get_settings] = lambda: settings
    app.state.redis = Redis.from_url(settings.redis_url, decode_responses=True)
    transport = ASGITransport(app, client=("203.0.113.9", 41000))
    async with AsyncClient(transport=transport, base_url="http://test") as client:
        yield client
    await app.state.redis.aclose()


@pytest.fixture
def make_parcel(session: AsyncSession) -> Make:
    return maker_of("parcel", session)


@pytest.fixture
def make_shipment(session: AsyncSession) -> Make:
    return maker_of("shipment", session)


@pytest.fixture
def make_webhook(session: AsyncSession) -> Make:
    return maker_of("webhook", session)
'''

VALUES = """# Staging; production overrides replicas and hosts.
image:
  repository: registry.parcel.example/parcel-api
  tag: 4.11.2
replicas: 3
service:
  port: 8085
ingress:
  host: api.staging.parcel.example
  gateway: partner-gateway
  gatewayCidr: 10.20.0.0/24
env:
  PARCEL_PORT: "8085"
  PARCEL_REDIS_URL: redis://redis.staging.svc:6380/0
  PARCEL_EVENT_CHANNEL: parcel-events
  PARCEL_RATE_LIMIT_PER_MIN: "120"
  PARCEL_WEBHOOK_WORKERS: "8"
  PARCEL_CORS_ORIGINS: https://track.staging.parcel.example
resources:
  requests: {cpu: 250m, memory: 256Mi}
  limits: {cpu: "1", memory: 512Mi}
"""

AUDIT = '''"""The audit log: who changed what, and when. Rows are only ever added."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import JSON, DateTime, String, Uuid, func
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base


class AuditEntry(Base):
    """One change."""

    __tablename__ = "audit_entries"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, default=uuid4)
    action: Mapped[str] = mapped_column(String(60), index=True)
    api_key_hash: Mapped[str] = mapped_column(String(64), index=True)
    """Who did it: the hash of the static key. Not null since revision 0009."""
    details: Mapped[dict[str, str]] = mapped_column(JSON, default=dict)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


async def write_audit_entry(
    session: AsyncSession, action: str, api_key_hash: str, **details: str
) -> AuditEntry:
    """Add an entry; it is committed with the request."""
    entry = AuditEntry(action=action, api_key_hash=api_key_hash, details=details)
    session.add(entry)
    await session.flush()
    return entry
'''

SDK_HTTP = """import type { ErrorBody, Page } from "./types.js";

export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  fetch?: typeof fetch;
  timeoutMs?: number;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterS: number | undefined,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export class Http {
  readonly #options: Required<ClientOptions>;

  constructor(options: ClientOptions) {
    this.#options = { fetch: globalThis.fetch, timeoutMs: 10_000, ...options };
  }

  async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.#options.fetch(new URL(path, this.#options.baseUrl), {
      method,
      headers: this.#headers(body !== undefined),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(this.#options.timeoutMs),
    });
    if (response.status === 204) {
      return undefined as T;
    }
    if (!response.ok) {
      throw await toError(response);
    }
    return (await response.json()) as T;
  }

  async *pages<T>(path: string): AsyncGenerator<T> {
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page: Page<T> = await this.request("GET", `${path}${query}`);
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  #headers(hasBody: boolean): Record<string, string> {
    const headers: Record<string, string> = { "X-Api-Key": this.#options.apiKey };
    return hasBody ? { ...headers, "Content-Type": "application/json" } : headers;
  }
}

async function toError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as ErrorBody | undefined;
  const retryAfter = response.headers.get("Retry-After");
  return new ApiError(
    response.status,
    body?.code ?? "UNKNOWN",
    body?.message ?? response.statusText,
    retryAfter === null ? undefined : Number(retryAfter),
  );
}
"""


def starting_files() -> dict[str, str]:
    """Give every file of the project as it is checked out in the morning."""
    files = {
        "README.md": README,
        "Makefile": MAKEFILE,
        "pyproject.toml": PYPROJECT,
        "app/audit.py": AUDIT,
        "app/config.py": CONFIG,
        "app/db.py": DB,
        "app/deps.py": DEPS,
        "app/errors.py": ERRORS,
        "app/main.py": MAIN,
        "app/rate_limit.py": RATE_LIMIT,
        "deploy/helm/values.yaml": VALUES,
        "sdk/src/http.ts": SDK_HTTP,
        "tests/conftest.py": CONFTEST,
        "tests/test_rate_limit.py": TEST_RATE_LIMIT,
    }
    for resource in RESOURCES:
        files |= files_of(resource)
    return files
