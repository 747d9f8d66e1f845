"""Tests and documents that the agent writes in the session."""

TEST_TOKENS = '''"""Access tokens."""

from datetime import timedelta
from uuid import uuid4

import jwt
import pytest
import time_machine

from app.auth.keys import KeyRing, to_jwks
from app.auth.tokens import ISSUER, LEEWAY_S, issue_access_token, verify_access_token
from app.errors import AuthError

SCOPES = frozenset({"parcels:read", "parcels:write"})
TTL_S = 1800


def token_of(ring: KeyRing, ttl_s: int = TTL_S) -> str:
    return issue_access_token(ring, uuid4(), uuid4(), SCOPES, ttl_s)


def test_claims_survive_the_round_trip(ring: KeyRing) -> None:
    subject, customer_id = uuid4(), uuid4()
    token = issue_access_token(ring, subject, customer_id, SCOPES, TTL_S)
    claims = verify_access_token(ring, token)
    assert (claims.subject, claims.customer_id, claims.scopes) == (subject, customer_id, SCOPES)


def test_expired_token_is_refused(ring: KeyRing) -> None:
    token = token_of(ring)
    with time_machine.travel(timedelta(seconds=TTL_S + LEEWAY_S + 1)):
        with pytest.raises(AuthError) as caught:
            verify_access_token(ring, token)
    assert caught.value.code == "AUTH_TOKEN_EXPIRED"


def test_leeway_allows_for_skewed_clocks(ring: KeyRing) -> None:
    token = token_of(ring)
    with time_machine.travel(timedelta(seconds=TTL_S + LEEWAY_S - 1)):
        verify_access_token(ring, token)


def test_hs256_with_the_public_key_is_refused(ring: KeyRing) -> None:
    forged = jwt.encode(
        {"iss": ISSUER, "sub": str(uuid4())},
        key="x" * 64,
        algorithm="HS256",
        headers={"kid": ring.active_kid},
    )
    with pytest.raises(AuthError) as caught:
        verify_access_token(ring, forged)
    assert caught.value.code == "AUTH_TOKEN_INVALID"


@pytest.mark.parametrize("claim", ["exp", "iat", "iss", "aud", "sub", "cid", "jti"])
def test_missing_claim_is_refused(ring: KeyRing, claim: str) -> None:
    payload = jwt.decode(token_of(ring), options={"verify_signature": False})
    del payload[claim]
    token = jwt.encode(
        payload, ring.active.private_key, algorithm="RS256", headers={"kid": ring.active_kid}
    )
    with pytest.raises(AuthError) as caught:
        verify_access_token(ring, token)
    assert caught.value.code == "AUTH_TOKEN_INVALID"


def test_token_of_another_audience_is_refused(ring: KeyRing) -> None:
    payload = jwt.decode(token_of(ring), options={"verify_signature": False})
    token = jwt.encode(
        payload | {"aud": "billing-api"},
        ring.active.private_key,
        algorithm="RS256",
        headers={"kid": ring.active_kid},
    )
    with pytest.raises(AuthError):
        verify_access_token(ring, token)


def test_unknown_key_is_refused(ring: KeyRing, other_ring: KeyRing) -> None:
    with pytest.raises(AuthError, match="unknown key"):
        verify_access_token(ring, token_of(other_ring))


def test_jwks_holds_no_private_part(ring: KeyRing) -> None:
    for key in to_jwks(ring)["keys"]:
        assert set(key) == {"kty", "use", "alg", "kid", "n", "e"}
'''

TEST_REFRESH = '''"""Refresh tokens, over HTTP."""

from datetime import timedelta

import pytest
import time_machine
from httpx import AsyncClient
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.refresh import hash_token
from app.models.refresh_token import RefreshToken
from tests.support import Login

pytestmark = pytest.mark.anyio

FOURTEEN_DAYS_S = 14 * 24 * 3600


async def rotate(client: AsyncClient, token: str) -> tuple[int, dict[str, str]]:
    response = await client.post("/v1/auth/refresh", json={"refresh_token": token})
    return response.status_code, response.json()


async def test_refresh_gives_a_new_pair(client: AsyncClient, login: Login) -> None:
    pair = await login()
    status, fresh = await rotate(client, pair["refresh_token"])
    assert status == 200
    assert fresh["refresh_token"] != pair["refresh_token"]
    assert fresh["access_token"] != pair["access_token"]


async def test_reuse_revokes_family(
    client: AsyncClient, login: Login, session: AsyncSession
) -> None:
    pair = await login()
    _, second = await rotate(client, pair["refresh_token"])
    status, body = await rotate(client, pair["refresh_token"])
    assert (status, body["code"]) == (401, "AUTH_REFRESH_REUSED")
    row = await session.scalar(
        select(RefreshToken).where(
            RefreshToken.token_hash == hash_token(second["refresh_token"])
        )
    )
    assert row is not None
    assert row.revoked_at is not None
    status, body = await rotate(client, second["refresh_token"])
    assert (status, body["code"]) == (401, "AUTH_REFRESH_REUSED")


async def test_refresh_expires_after_fourteen_days(client: AsyncClient, login: Login) -> None:
    pair = await login()
    with time_machine.travel(timedelta(seconds=FOURTEEN_DAYS_S + 1)):
        status, body = await rotate(client, pair["refresh_token"])
    assert (status, body["code"]) == (401, "AUTH_REFRESH_INVALID")


async def test_token_is_stored_as_hash_only(
    client: AsyncClient, login: Login, session: AsyncSession
) -> None:
    pair = await login()
    rows = (await session.scalars(select(RefreshToken))).all()
    assert all(pair["refresh_token"] not in row.token_hash for row in rows)


async def test_unknown_token_is_refused(client: AsyncClient) -> None:
    status, body = await rotate(client, "not-a-token")
    assert (status, body["code"]) == (401, "AUTH_REFRESH_INVALID")
'''

TEST_LOGOUT = '''"""Signing out, over HTTP."""

import pytest
from httpx import AsyncClient
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit import AuditEntry
from tests.support import Login

pytestmark = pytest.mark.anyio


async def test_logout_revokes_the_family(client: AsyncClient, login: Login) -> None:
    pair = await login()
    fresh = await client.post("/v1/auth/refresh", json={"refresh_token": pair["refresh_token"]})
    body = {"refresh_token": fresh.json()["refresh_token"]}
    assert (await client.post("/v1/auth/logout", json=body)).status_code == 204
    again = await client.post("/v1/auth/refresh", json=body)
    assert again.json()["code"] == "AUTH_REFRESH_REUSED"


async def test_logout_with_unknown_token_is_no_error(client: AsyncClient) -> None:
    response = await client.post("/v1/auth/logout", json={"refresh_token": "not-a-token"})
    assert response.status_code == 204


async def test_logout_writes_audit_entry(
    client: AsyncClient, login: Login, session: AsyncSession
) -> None:
    pair = await login()
    await client.post("/v1/auth/logout", json={"refresh_token": pair["refresh_token"]})
    entry = await session.scalar(select(AuditEntry).where(AuditEntry.action == "auth.logout"))
    assert entry is not None
    assert entry.details["cid"] == pair["customer_id"]
'''

TEST_PROXIES = '''"""Who a request counts for, behind proxies and without."""

import pytest
from starlette.requests import Request

from app.rate_limit import client_key, parse_networks

TRUSTED = parse_networks("10.20.0.0/24")


def request_from(host: str, forwarded: str | None = None) -> Request:
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "client": (host, 41000), "headers": headers, "state": {}}
    return Request(scope)


@pytest.mark.parametrize(
    ("host", "forwarded", "expected"),
    [
        ("203.0.113.9", None, "ip:203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "ip:203.0.113.9"),
        ("10.20.0.7", "198.51.100.1", "ip:198.51.100.1"),
        ("10.20.0.7", "192.0.2.66, 198.51.100.1", "ip:198.51.100.1"),
        ("10.20.0.7", "198.51.100.1, 10.20.0.9", "ip:198.51.100.1"),
        ("10.20.0.7", "not an address", "ip:10.20.0.7"),
        ("10.20.0.7", None, "ip:10.20.0.7"),
        ("10.21.0.7", "198.51.100.1", "ip:10.21.0.7"),
    ],
)
def test_address_is_that_of_the_last_untrusted_hop(
    host: str, forwarded: str | None, expected: str
) -> None:
    assert client_key(request_from(host, forwarded), TRUSTED) == expected


def test_nothing_is_trusted_by_default() -> None:
    request = request_from("10.20.0.7", "198.51.100.1")
    assert client_key(request, parse_networks("")) == "ip:10.20.0.7"
'''

TEST_JWKS = '''"""The JWKS document and the change of keys."""

from pathlib import Path

import pytest
from httpx import AsyncClient

from app.auth.keys import KeyConfigError, load_key_ring
from app.auth.tokens import issue_access_token, verify_access_token
from tests.support import CUSTOMER_ID, USER_ID, write_key

pytestmark = pytest.mark.anyio


async def test_jwks_may_be_cached_for_five_minutes(client: AsyncClient) -> None:
    response = await client.get("/.well-known/jwks.json")
    assert response.headers["Cache-Control"] == "public, max-age=300"


async def test_both_keys_verify_during_a_rotation(tmp_path: Path) -> None:
    write_key(tmp_path / "2026-03-a.pem")
    write_key(tmp_path / "2026-03-b.pem")
    old = load_key_ring(tmp_path, "2026-03-a")
    new = load_key_ring(tmp_path, "2026-03-b")
    token = issue_access_token(old, USER_ID, CUSTOMER_ID, frozenset(), ttl_s=900)
    assert verify_access_token(new, token).subject == USER_ID


def test_short_key_is_refused(tmp_path: Path) -> None:
    write_key(tmp_path / "weak.pem", bits=1024)
    with pytest.raises(KeyConfigError, match="fewer than 2048 bits"):
        load_key_ring(tmp_path, "weak")


def test_missing_active_key_is_refused(tmp_path: Path) -> None:
    write_key(tmp_path / "2026-03-a.pem")
    with pytest.raises(KeyConfigError, match="no key 2026-03-b"):
        load_key_ring(tmp_path, "2026-03-b")
'''

SDK_SESSION = """import { ApiError, type Http } from "./http.js";
import type { TokenPair } from "./types.js";

const EXPIRED = "AUTH_TOKEN_EXPIRED";

export interface TokenStore {
  load(): Promise<TokenPair | undefined>;
  save(pair: TokenPair | undefined): Promise<void>;
}

export class Session {
  readonly #http: Http;
  readonly #store: TokenStore;
  #refreshing: Promise<TokenPair> | undefined;

  constructor(http: Http, store: TokenStore) {
    this.#http = http;
    this.#store = store;
  }

  async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const pair = await this.#store.load();
    try {
      return await this.#http.request<T>(method, path, body, pair?.access_token);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== EXPIRED || pair === undefined) {
        throw error;
      }
      const fresh = await this.refresh(pair);
      return this.#http.request<T>(method, path, body, fresh.access_token);
    }
  }

  /** Refreshes once for all requests that wait: a second use would revoke the family. */
  refresh(pair: TokenPair): Promise<TokenPair> {
    this.#refreshing ??= this.#exchange(pair).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #exchange(pair: TokenPair): Promise<TokenPair> {
    try {
      const fresh = await this.#http.request<TokenPair>("POST", "/v1/auth/refresh", {
        refresh_token: pair.refresh_token,
      });
      await this.#store.save(fresh);
      return fresh;
    } catch (error) {
      await this.#store.save(undefined);
      throw error;
    }
  }
}
"""

SDK_TEST = """import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, Http } from "../src/http.js";
import { Session } from "../src/session.js";
import { fakeFetch, memoryStore } from "./support.js";

test("an expired token is refreshed once for parallel requests", async () => {
  const server = fakeFetch({ expireAfter: 0 });
  const http = new Http({ baseUrl: "http://localhost:8085", fetch: server.fetch });
  const session = new Session(http, memoryStore());
  await Promise.all([
    session.request("GET", "/v1/parcels"),
    session.request("GET", "/v1/parcels"),
    session.request("GET", "/v1/shipments"),
  ]);
  assert.equal(server.calls("/v1/auth/refresh"), 1);
});

test("a refused refresh forgets the pair", async () => {
  const server = fakeFetch({ expireAfter: 0, refuseRefresh: "AUTH_REFRESH_REUSED" });
  const store = memoryStore();
  const session = new Session(new Http({ baseUrl: "http://localhost:8085", fetch: server.fetch }), store);
  await assert.rejects(session.request("GET", "/v1/parcels"), (error) => {
    return error instanceof ApiError && error.code === "AUTH_REFRESH_REUSED";
  });
  assert.equal(await store.load(), undefined);
});

test("other errors are not retried", async () => {
  const server = fakeFetch({ failWith: "AUTH_SCOPE_MISSING" });
  const session = new Session(new Http({ baseUrl: "http://localhost:8085", fetch: server.fetch }), memoryStore());
  await assert.rejects(session.request("GET", "/v1/parcels"));
  assert.equal(server.calls("/v1/auth/refresh"), 0);
});
"""

ROTATION_DOC = """# Changing the signing key

1. Make the new pair on the key host: `python -m scripts.make_key 2026-03-b`. Key ids are the year,
   the month and a letter.
2. Add the PEM file to the secret `parcel-api-jwt-keys`; leave the old one where it is.
3. Wait until `/.well-known/jwks.json` shows both keys on every replica, then 300 seconds more: that
   is how long verifiers may cache the document.
4. Set `PARCEL_JWT_ACTIVE_KID` to the new id and roll out.
5. Keep the old key in the folder for 24 hours, then remove it from the secret.

Never reuse a key id.
"""
