"""Code that the agent writes in the session: keys, tokens, routes, tests."""

KEYS = '''"""Signing keys: RSA key pairs by key id, and the JWKS document of their public halves."""

import base64
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from app.config import Settings, get_settings

MIN_KEY_BITS = 2048


class KeyConfigError(Exception):
    """The key directory cannot be used as it is."""


@dataclass(frozen=True)
class SigningKey:
    """A key pair; the id is the file's name without its ending."""

    kid: str
    private_key: RSAPrivateKey

    @property
    def public_key(self) -> RSAPublicKey:
        """Give the half that may be shown."""
        return self.private_key.public_key()


@dataclass(frozen=True)
class KeyRing:
    """All keys that verify, and the one that signs."""

    keys: dict[str, SigningKey]
    active_kid: str

    @property
    def active(self) -> SigningKey:
        """Give the key that signs new tokens."""
        return self.keys[self.active_kid]

    def find(self, kid: str) -> SigningKey | None:
        """Find a key by its id."""
        return self.keys.get(kid)


def load_key_ring(folder: Path, active_kid: str) -> KeyRing:
    """Read every PEM file of a folder; raises KeyConfigError."""
    keys: dict[str, SigningKey] = {}
    for path in sorted(folder.glob("*.pem")):
        loaded = serialization.load_pem_private_key(path.read_bytes(), password=None)
        if not isinstance(loaded, RSAPrivateKey):
            raise KeyConfigError(f"{path.name} is not an RSA key.")
        if loaded.key_size < MIN_KEY_BITS:
            raise KeyConfigError(f"{path.name} has fewer than {MIN_KEY_BITS} bits.")
        keys[path.stem] = SigningKey(kid=path.stem, private_key=loaded)
    if active_kid not in keys:
        raise KeyConfigError(f"There is no key {active_kid} in {folder}.")
    return KeyRing(keys=keys, active_kid=active_kid)


@cache
def _cached_ring(folder: str, active_kid: str) -> KeyRing:
    return load_key_ring(Path(folder), active_kid)


def get_key_ring(settings: Settings | None = None) -> KeyRing:
    """Give the key ring of the settings; read once a process."""
    settings = settings or get_settings()
    return _cached_ring(settings.jwt_key_folder, settings.jwt_active_kid)


def to_jwks(ring: KeyRing) -> dict[str, list[dict[str, str]]]:
    """Write the public keys as a JWKS document (RFC 7517)."""
    return {"keys": [_to_jwk(key) for key in ring.keys.values()]}


def _to_jwk(key: SigningKey) -> dict[str, str]:
    numbers = key.public_key.public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key.kid,
        "n": _to_base64(numbers.n),
        "e": _to_base64(numbers.e),
    }


def _to_base64(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
'''

TOKENS = '''"""Access tokens: signed JWTs that live for minutes and are never stored."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import jwt

from app.auth.keys import KeyRing
from app.errors import AuthError

ALGORITHM = "RS256"
ISSUER = "https://auth.parcel.example"
AUDIENCE = "parcel-api"
LEEWAY_S = 10
REQUIRED_CLAIMS = ["exp", "iat", "iss", "aud", "sub", "cid", "jti"]


@dataclass(frozen=True)
class Claims:
    """What an access token says."""

    subject: UUID
    customer_id: UUID
    scopes: frozenset[str]
    token_id: str
    expires_at: datetime


def issue_access_token(
    ring: KeyRing, subject: UUID, customer_id: UUID, scopes: frozenset[str], ttl_s: int
) -> str:
    """Sign a token for a user of a customer."""
    now = datetime.now(UTC)
    payload = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": str(subject),
        "cid": str(customer_id),
        "scope": " ".join(sorted(scopes)),
        "iat": now,
        "exp": now + timedelta(seconds=ttl_s),
        "jti": uuid4().hex,
    }
    return jwt.encode(
        payload, ring.active.private_key, algorithm=ALGORITHM, headers={"kid": ring.active_kid}
    )


def verify_access_token(ring: KeyRing, token: str) -> Claims:
    """Check signature, times, issuer and audience; raises AuthError."""
    try:
        kid = jwt.get_unverified_header(token).get("kid", "")
        key = ring.find(kid)
        if key is None:
            raise AuthError("AUTH_TOKEN_INVALID", "The token was signed with an unknown key.")
        payload = jwt.decode(
            token,
            key.public_key,
            algorithms=[ALGORITHM],
            issuer=ISSUER,
            audience=AUDIENCE,
            leeway=LEEWAY_S,
            options={"require": REQUIRED_CLAIMS},
        )
    except jwt.ExpiredSignatureError as error:
        raise AuthError("AUTH_TOKEN_EXPIRED", "The access token has expired.") from error
    except jwt.PyJWTError as error:
        raise AuthError("AUTH_TOKEN_INVALID", "The access token is not valid.") from error
    return Claims(
        subject=UUID(payload["sub"]),
        customer_id=UUID(payload["cid"]),
        scopes=frozenset(payload.get("scope", "").split()),
        token_id=payload["jti"],
        expires_at=datetime.fromtimestamp(payload["exp"], UTC),
    )
'''

AUTH_DEPS = '''"""Dependencies of routes that want a token."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Header, Request

from app.auth.keys import KeyRing, get_key_ring
from app.auth.tokens import Claims, verify_access_token
from app.errors import AuthError, ScopeError


def bearer_token(authorization: Annotated[str | None, Header()] = None) -> str:
    """Take the token out of the header; 401 where there is none."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise AuthError("AUTH_TOKEN_MISSING", "A bearer token is needed.")
    return token


def current_claims(
    request: Request,
    token: Annotated[str, Depends(bearer_token)],
    ring: Annotated[KeyRing, Depends(get_key_ring)],
) -> Claims:
    """Verify the token and remember its claims for the rate limiter."""
    claims = verify_access_token(ring, token)
    request.state.claims = claims
    return claims


def require_scope(scope: str) -> Callable[..., Claims]:
    """Make a dependency that wants a scope; 403 without it."""

    def check(claims: Annotated[Claims, Depends(current_claims)]) -> Claims:
        """Give the claims, if they hold the scope."""
        if scope not in claims.scopes:
            raise ScopeError(scope)
        return claims

    return check
'''

REFRESH = '''"""Refresh tokens: opaque, stored as hashes, rotated at every use."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import AuthError
from app.models.refresh_token import RefreshToken

TOKEN_BYTES = 32


@dataclass(frozen=True)
class IssuedRefresh:
    """A new token in clear, which only the client keeps, and its row."""

    token: str
    row: RefreshToken


def hash_token(token: str) -> str:
    """Give the SHA-256 of a token, as it is stored."""
    return hashlib.sha256(token.encode()).hexdigest()


class RefreshTokens:
    """Issues, rotates and revokes refresh tokens through one database session."""

    def __init__(self, session: AsyncSession, ttl_s: int) -> None:
        self._session = session
        self._ttl_s = ttl_s

    async def issue(
        self, subject: UUID, customer_id: UUID, family_id: UUID | None = None
    ) -> IssuedRefresh:
        """Store a new token; without a family it starts one."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        row = RefreshToken(
            token_hash=hash_token(token),
            family_id=family_id or uuid4(),
            subject=subject,
            customer_id=customer_id,
            expires_at=datetime.now(UTC) + timedelta(seconds=self._ttl_s),
        )
        self._session.add(row)
        await self._session.flush()
        return IssuedRefresh(token=token, row=row)

    async def rotate(self, token: str) -> IssuedRefresh:
        """Exchange a token for its successor; reuse of an old one revokes the whole family."""
        row = await self._find(token)
        if row is None or row.expires_at <= datetime.now(UTC):
            raise AuthError("AUTH_REFRESH_INVALID", "The refresh token is not valid.")
        if row.used_at is not None or row.revoked_at is not None:
            await self.revoke_family(row.family_id)
            raise AuthError("AUTH_REFRESH_REUSED", "The refresh token was used before.")
        row.used_at = datetime.now(UTC)
        return await self.issue(row.subject, row.customer_id, row.family_id)

    async def revoke_family(self, family_id: UUID) -> int:
        """Revoke every token that comes from the same sign-in."""
        result = await self._session.execute(
            update(RefreshToken)
            .where(RefreshToken.family_id == family_id, RefreshToken.revoked_at.is_(None))
            .values(revoked_at=datetime.now(UTC))
        )
        return int(result.rowcount)

    async def _find(self, token: str) -> RefreshToken | None:
        statement = select(RefreshToken).where(RefreshToken.token_hash == hash_token(token))
        return await self._session.scalar(statement.with_for_update())
'''

REFRESH_MODEL = '''"""Refresh tokens: their table."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import DateTime, String, Uuid, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base


class RefreshToken(Base):
    """A refresh token; the token itself is never stored, only its hash."""

    __tablename__ = "refresh_tokens"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, default=uuid4)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    family_id: Mapped[UUID] = mapped_column(Uuid, index=True)
    subject: Mapped[UUID] = mapped_column(Uuid, index=True)
    customer_id: Mapped[UUID] = mapped_column(Uuid, index=True)
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True), nullable=True)
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True), nullable=True)
    created_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now()
    )
'''

MIGRATION = '''"""add_refresh_tokens

Revision ID: b7d41c09e2aa
Revises: 5f0c33d81b64
Create Date: 2026-03-12 10:31:40.113902

Number: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "b7d41c09e2aa"
down_revision = "5f0c33d81b64"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "refresh_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("family_id", sa.Uuid(), nullable=False),
        sa.Column("subject", sa.Uuid(), nullable=False),
        sa.Column("customer_id", sa.Uuid(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index("ix_refresh_tokens_family_id", "refresh_tokens", ["family_id"])
    op.create_index("ix_refresh_tokens_subject", "refresh_tokens", ["subject"])
    op.create_index("ix_refresh_tokens_customer_id", "refresh_tokens", ["customer_id"])


def downgrade() -> None:
    op.drop_table("refresh_tokens")
'''

AUTH_ROUTER = '''"""Routes below `/v1/auth`, and the JWKS document."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.keys import KeyRing, get_key_ring, to_jwks
from app.auth.refresh import RefreshTokens
from app.auth.tokens import issue_access_token
from app.auth.users import UserDirectory, get_user_directory
from app.config import Settings, get_settings
from app.db import get_session

router = APIRouter(tags=["auth"])

JWKS_MAX_AGE_S = 300


class LoginBody(BaseModel):
    """Body of `POST /v1/auth/login`."""

    model_config = ConfigDict(extra="forbid")

    email: str
    password: str


class RefreshBody(BaseModel):
    """Body of `POST /v1/auth/refresh`."""

    model_config = ConfigDict(extra="forbid")

    refresh_token: str


class TokenPair(BaseModel):
    """What sign-in and refresh answer with."""

    access_token: str
    refresh_token: str
    token_type: str = "Bearer"
    expires_in: int


def get_refresh_tokens(
    session: Annotated[AsyncSession, Depends(get_session)],
    settings: Annotated[Settings, Depends(get_settings)],
) -> RefreshTokens:
    """Give the refresh tokens that share the request's session."""
    return RefreshTokens(session, settings.refresh_token_ttl_s)


@router.get("/.well-known/jwks.json")
async def jwks(
    response: Response, ring: Annotated[KeyRing, Depends(get_key_ring)]
) -> dict[str, list[dict[str, str]]]:
    """Publish the public keys, so that others can verify but not sign."""
    response.headers["Cache-Control"] = f"public, max-age={JWKS_MAX_AGE_S}"
    return to_jwks(ring)


@router.post("/v1/auth/login")
async def login(
    body: LoginBody,
    users: Annotated[UserDirectory, Depends(get_user_directory)],
    refresh_tokens: Annotated[RefreshTokens, Depends(get_refresh_tokens)],
    ring: Annotated[KeyRing, Depends(get_key_ring)],
    settings: Annotated[Settings, Depends(get_settings)],
) -> TokenPair:
    """Exchange a password for a pair of tokens."""
    user = await users.check_password(body.email, body.password)
    issued = await refresh_tokens.issue(user.user_id, user.customer_id)
    return _pair(ring, settings, user.user_id, user.customer_id, user.scopes, issued.token)


@router.post("/v1/auth/refresh")
async def refresh(
    body: RefreshBody,
    users: Annotated[UserDirectory, Depends(get_user_directory)],
    refresh_tokens: Annotated[RefreshTokens, Depends(get_refresh_tokens)],
    ring: Annotated[KeyRing, Depends(get_key_ring)],
    settings: Annotated[Settings, Depends(get_settings)],
) -> TokenPair:
    """Exchange a refresh token for a new pair; the old one is used up."""
    issued = await refresh_tokens.rotate(body.refresh_token)
    user = await users.get(issued.row.subject)
    return _pair(ring, settings, user.user_id, user.customer_id, user.scopes, issued.token)


def _pair(
    ring: KeyRing,
    settings: Settings,
    subject: UUID,
    customer_id: UUID,
    scopes: frozenset[str],
    refresh_token: str,
) -> TokenPair:
    ttl_s = settings.access_token_ttl_s
    return TokenPair(
        access_token=issue_access_token(ring, subject, customer_id, scopes, ttl_s),
        refresh_token=refresh_token,
        expires_in=ttl_s,
    )
'''

LOGOUT_ROUTE = '''

@router.post("/v1/auth/logout", status_code=204)
async def logout(
    body: RefreshBody,
    refresh_tokens: Annotated[RefreshTokens, Depends(get_refresh_tokens)],
) -> None:
    """Revoke the whole family of a refresh token; unknown tokens are no error."""
    await refresh_tokens.revoke_by_token(body.refresh_token)
'''

USERS = '''"""Users of customers: password check and scopes."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import get_session
from app.errors import AuthError
from app.models.user import User

N_SCRYPT = 2**14


@dataclass(frozen=True)
class Account:
    """A user as the token needs it."""

    user_id: UUID
    customer_id: UUID
    scopes: frozenset[str]


class UserDirectory:
    """Finds users through one database session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def check_password(self, email: str, password: str) -> Account:
        """Give the user with this password; raises AuthError, the same one for both reasons."""
        user = await self._session.scalar(select(User).where(User.email == email.lower()))
        salt = user.password_salt if user else b"no such user, same cost"
        digest = hashlib.scrypt(password.encode(), salt=salt, n=N_SCRYPT, r=8, p=1)
        if user is None or not hmac.compare_digest(digest, user.password_digest):
            raise AuthError("AUTH_LOGIN_FAILED", "Email or password is wrong.")
        return self._account(user)

    async def get(self, user_id: UUID) -> Account:
        """Give a user; raises AuthError where it is gone or locked."""
        user = await self._session.get(User, user_id)
        if user is None or user.is_locked:
            raise AuthError("AUTH_REFRESH_INVALID", "The refresh token is not valid.")
        return self._account(user)

    def _account(self, user: User) -> Account:
        return Account(user.id, user.customer_id, frozenset(user.scopes.split()))


def get_user_directory(
    session: Annotated[AsyncSession, Depends(get_session)],
) -> UserDirectory:
    """Give the directory that shares the request's session."""
    return UserDirectory(session)
'''
