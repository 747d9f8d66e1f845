"""The story up to the agent's own compaction: look round, RS256, the first tokens."""

from datetime import UTC, datetime

import demo_auth_code as code
import demo_auth_tests as texts
from demo_outputs import access_log, git_log, openapi, pip_install, pytest_head, pytest_run
from demo_outputs import table_definition, test_names
from demo_reports import mypy_report, route_table, sql_echo
from demo_resources import PARCEL, RESOURCES, SCAN, SHIPMENT
from demo_script import Step, bash, cat, diff, edit, grep, numbered, read, say, user, write
from demo_workspace import Workspace

COMMITS = (
    ("9c1e0b7", "Wed Mar 11 17:40:12 2026 +0100", "release 4.11.2: webhook workers, chart values"),
    ("4f7a2d3", "Wed Mar 11 16:02:55 2026 +0100", "deploy: move the rate limit into the chart"),
    ("e08b511", "Tue Mar 10 11:31:20 2026 +0100", "scans: count readings by device and lane"),
    ("b61fd90", "Mon Mar 9 15:17:44 2026 +0100", "labels: reprint keeps the barcode"),
    ("70c24ae", "Mon Mar 9 10:08:03 2026 +0100", "webhooks: give up after max_attempts"),
    ("1d93c6f", "Fri Mar 6 14:22:31 2026 +0100", "pagination: cursors instead of offsets"),
    ("c5580e2", "Thu Mar 5 09:54:10 2026 +0100", "shipments: delayed may go back to picked_up"),
    ("38fa1b4", "Wed Mar 4 13:45:59 2026 +0100", "errors: one body with code and message"),
)
CHANGED_ROUTERS = ("parcels", "shipments", "webhooks")


def morning() -> list[Step]:
    """Tell the part that the agent's own compaction replaces, as far as it is not kept."""
    return [*_look_round(), *_signing(), *_routes(), *_callbacks(), *_refresh()]


def _look_round() -> list[Step]:
    return [
        user(
            """
Morning. parcel-api knows nothing but the static X-Api-Key header. I want JWT authentication for the
customer-facing routes (`/v1/parcels`, `/v1/shipments`, `/v1/webhooks`), with refresh tokens. Carriers
and depots keep the API key for now. Have a look round first and give me a plan, no code yet. And for
everything you write here: all new functions get type hints and a docstring.
""",
            wait_s=0,
        ),
        say(
            "I'll start with the layout and the README.",
            bash("git status --short && wc -l $(git ls-files)", lambda tree: tree.sizes("")),
            read("README.md"),
        ),
        say("", read("pyproject.toml"), read("Makefile")),
        say("Now the application object and its settings.", read("app/main.py"), read("app/config.py")),
        say("", read("app/deps.py"), read("app/errors.py"), read("app/db.py")),
        say(
            "Every route seems to go through `require_api_key`. Let me see where it is used.",
            grep("require_api_key", "app"),
        ),
        say("", bash("python -m scripts.list_routes", route_table())),
        say("Reading the three routers that are in scope.", read("app/routers/parcels.py")),
        say("", read("app/routers/shipments.py"), read("app/routers/webhooks.py")),
        say(
            "The repositories filter by `customer_id` only when a client asks for it. That matters:"
            " today any key can read any customer's parcels.",
            read("app/repositories/parcels.py"),
            read("app/repositories/shipments.py"),
        ),
        say("", cat(*(f"app/models/{res.name}.py" for res in RESOURCES))),
        say("", cat(*(f"app/schemas/{res.name}.py" for res in RESOURCES[:6]))),
        say("Now how tests are set up.", read("tests/conftest.py"), read("tests/test_parcels.py")),
        say("", read("tests/test_shipments.py"), read("app/audit.py")),
        say(
            "What changed lately, and what the public document promises to clients.",
            bash("git log --stat -8", lambda tree: git_log(COMMITS, sorted(tree.files))),
        ),
        say("", bash("make openapi && cat docs/openapi.json", openapi(), seconds=4.2)),
        say(
            "Who calls with a key today? The access log of staging should tell.",
            bash(
                "kubectl -n staging logs deploy/parcel-api --since=10m | tail -n 190",
                access_log("keys", datetime(2026, 3, 12, 9, 3, tzinfo=UTC), 190),
                seconds=3.0,
            ),
            think="The log shows the gateway's address only, so I cannot tell customers apart by it."
            " That is the reason why the customer must come from the token (claim cid) and not from"
            " the connection. Note the left= figures, which start at 20; the README says the default"
            " is 20. Not part of the task.",
        ),
        say(
            """
Here is the plan.

1. `app/auth/keys.py`: key ring, read from a folder of PEM files.
2. `app/auth/tokens.py`: issue and verify access tokens.
3. `app/auth/deps.py`: `current_claims`, `require_scope("parcels:read")` and so on, to replace
   `require_api_key` in the routers for parcels, shipments and webhooks.
4. Refresh tokens: a table `refresh_tokens`, only hashes stored, rotated at each use.
5. `POST /v1/auth/login`, `POST /v1/auth/refresh`, later `POST /v1/auth/logout`.
6. Repositories of customer-facing routes always filter by the token's customer.

Two things I need from you before I write anything:

- **HS256 or RS256?** HS256 is simpler, one shared secret. RS256 lets others verify without being
  able to sign.
- **Lifetimes** of access and refresh tokens.
"""
        ),
    ]


def _signing() -> list[Step]:
    return [
        user(
            """
RS256, not HS256: the tracking page team and the partner gateway must be able to verify tokens without
holding a secret that can also sign. Publish the public keys at `/.well-known/jwks.json`. Access tokens
live 30 minutes, refresh tokens 14 days. One thing about the schema: never touch the migrations folder
by hand, schema changes go through `make migration name=...` only, the numbering breaks otherwise.
Go ahead with 1 and 2 of your plan.
""",
            wait_s=540,
        ),
        say(
            "RS256 it is. I'll look for a JWT library that works with the pinned cryptography.",
            bash(
                "pip install 'python-jose[cryptography]>=3.3'",
                _JOSE_CONFLICT,
                code=1,
                seconds=11.0,
            ),
        ),
        say(
            "python-jose pulls in a second ECDSA implementation and conflicts with our pin of"
            " cryptography (`>=42,<43`). Dead end: I leave it and take PyJWT, which uses the"
            " cryptography that we have.",
            bash(
                "pip install 'PyJWT[crypto]>=2.9,<3'",
                pip_install(
                    (("PyJWT", "2.10.1"),),
                    (("cryptography", "42.0.8"), ("cffi", "1.17.1"), ("pycparser", "2.22")),
                ),
                seconds=6.0,
            ),
        ),
        say(
            "",
            edit(
                "pyproject.toml",
                ('    "pydantic>=2.9,<3",\n', '    "pydantic>=2.9,<3",\n    "PyJWT[crypto]>=2.9,<3",\n'),
            ),
            edit(
                "app/config.py",
                (
                    "    webhook_timeout_s: float = 8.0\n",
                    '    jwt_key_folder: str = "/run/secrets/jwt"\n'
                    '    jwt_active_kid: str = "2026-03-a"\n'
                    "    access_token_ttl_s: int = Field(1800, ge=60)\n"
                    "    refresh_token_ttl_s: int = Field(1_209_600, ge=3600)\n"
                    "    webhook_timeout_s: float = 8.0\n",
                ),
            ),
        ),
        say("The key ring first.", write("app/auth/keys.py", code.KEYS)),
        say("", write("app/auth/tokens.py", code.TOKENS)),
        say("And tests for both.", write("tests/test_tokens.py", texts.TEST_TOKENS)),
        say(
            "Now everything together.",
            bash("make test", _timed_out_suite, code=124, seconds=600.0),
        ),
        say(
            "",
            bash("tail -n 400 /tmp/parcel-test.log | grep -v DEBUG", _captured_log, seconds=0.4),
        ),
        say(
            "`app/auth/keys.py` and `app/auth/tokens.py` stand. The whole suite did not finish within"
            " ten minutes; what ran until then passed, except for one connection error in"
            " `tests/test_scans.py`, which has nothing to do with tokens."
        ),
    ]


_JOSE_CONFLICT = """Collecting python-jose[cryptography]>=3.3
  Using cached python_jose-3.3.0-py2.py3-none-any.whl (33 kB)
Collecting ecdsa!=0.15 (from python-jose[cryptography]>=3.3)
  Using cached ecdsa-0.19.0-py2.py3-none-any.whl (149 kB)
Collecting rsa (from python-jose[cryptography]>=3.3)
  Using cached rsa-4.9-py3-none-any.whl (34 kB)
Collecting cryptography>=43.0.1 (from python-jose[cryptography]>=3.3)
  Using cached cryptography-44.0.0-cp39-abi3-manylinux_2_28_x86_64.whl (4.2 MB)
INFO: pip is looking at multiple versions of parcel-api to determine which version is compatible.
ERROR: Cannot install parcel-api and python-jose[cryptography] because these package versions have
conflicting dependencies.

The conflict is caused by:
    parcel-api 4.11.2 depends on cryptography<43 and >=42
    python-jose[cryptography] depends on cryptography>=43.0.1

ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/"""


def _timed_out_suite(tree: Workspace) -> str:
    names = test_names(tree.files)
    lines = [f"{name} PASSED [{100 * n // 1480:3}%]" for n, name in enumerate(names * 2, 1)]
    return f"pytest\n{pytest_head(1480)}\n" + "\n".join(lines) + "\nTerminated"


def _captured_log(tree: Workspace) -> str:
    head = (
        "_______________________ test_list_is_filtered_by_device_id _______________________\n"
        "E   redis.exceptions.ConnectionError: Error 104 while writing to socket."
        " Connection reset by peer. (redis.staging.svc:6380)\n"
        "--------------------------------- Captured log call ------------------------------\n"
    )
    return head + "\n".join(sql_echo(RESOURCES, pid) for pid in (4117, 5230))


def _routes() -> list[Step]:
    return [
        user(
            """
Some facts for the next part. The claims are `sub` (user), `cid` (customer id) and `scope`, issuer is
`https://auth.parcel.example`, audience `parcel-api`; that is what the gateway team has already put into
their config. Scopes are `parcels:read`, `parcels:write`, `shipments:read`, `shipments:write` and
`webhooks:manage`. By the way, I saw you start everything with make test: please do not run the full test
suite, it takes 20 minutes and hammers the shared staging Redis, use `pytest -k` with what you changed.
Error codes in the JSON body: `AUTH_TOKEN_MISSING`, `AUTH_TOKEN_EXPIRED` and `AUTH_TOKEN_INVALID` with 401,
`AUTH_SCOPE_MISSING` with 403. The tracking page relies on exactly these. Continue with the routers.
""",
            wait_s=420,
        ),
        say(
            "Understood, only `pytest -k` from here on.",
            bash(
                "pytest tests/test_tokens.py -k 'token or jwks' -v",
                lambda tree: pytest_run(
                    test_names(tree.files, "tests/test_tokens"),
                    failed=["test_unknown_key_is_refused"],
                    report=_NO_FIXTURE,
                    seconds=3.4,
                ),
                code=1,
                seconds=5.0,
            ),
        ),
        say(
            "Only the fixtures are missing. I add `ring` and `other_ring` to conftest.",
            edit(
                "tests/conftest.py",
                (
                    "@pytest.fixture\nasync def client(",
                    '@pytest.fixture(scope="session")\ndef ring(tmp_path_factory: '
                    "pytest.TempPathFactory) -> KeyRing:\n"
                    '    """A key ring with one fresh key."""\n'
                    '    folder = tmp_path_factory.mktemp("jwt")\n'
                    '    write_key(folder / "2026-03-a.pem")\n'
                    '    return load_key_ring(folder, "2026-03-a")\n\n\n'
                    '@pytest.fixture(scope="session")\ndef other_ring(tmp_path_factory: '
                    "pytest.TempPathFactory) -> KeyRing:\n"
                    '    """A key ring of somebody else."""\n'
                    '    folder = tmp_path_factory.mktemp("other")\n'
                    '    write_key(folder / "9999-01-z.pem")\n'
                    '    return load_key_ring(folder, "9999-01-z")\n\n\n'
                    "@pytest.fixture\nasync def client(",
                ),
                (
                    "from app.config import Settings",
                    "from app.auth.keys import KeyRing, load_key_ring\nfrom app.config import Settings",
                ),
            ),
        ),
        say(
            "",
            bash(
                "pytest tests/test_tokens.py -k 'token or jwks' -v",
                lambda tree: pytest_run(test_names(tree.files, "tests/test_tokens"), seconds=2.9),
                seconds=4.0,
            ),
        ),
        say(
            "Green. Now the error for a missing scope, and the dependencies.",
            edit(
                "app/errors.py",
                (
                    "class RateLimitedError(ServiceError):",
                    "class ScopeError(ServiceError):\n"
                    '    """The caller is known, but may not do this."""\n\n'
                    "    status_code = status.HTTP_403_FORBIDDEN\n"
                    '    code = "AUTH_SCOPE_MISSING"\n\n'
                    "    def __init__(self, scope: str) -> None:\n"
                    '        super().__init__(f"The scope {scope} is needed.")\n\n\n'
                    "class RateLimitedError(ServiceError):",
                ),
            ),
            write("app/auth/deps.py", code.AUTH_DEPS),
        ),
        say(
            "The replacement in the routers is mechanical, so I do it with sed and look at the diff.",
            bash("sh /tmp/use_claims.sh parcels shipments webhooks", _use_claims),
            diff("app/routers"),
        ),
        say("", bash("mypy app", _mypy, code=1, seconds=14.0)),
        say(
            "`customer_id` is not known to the repositories yet. Reading what is left of them.",
            read("app/repositories/webhooks.py"),
            read("app/routers/parcels.py", 1, 110),
        ),
        say("", bash("sh /tmp/scope_repositories.sh parcels shipments webhooks", _scope_repositories)),
        say("", bash("mypy app", "Success: no issues found in 64 source files", seconds=12.0)),
        say(
            "",
            bash(
                "pytest tests -k 'parcels or shipments or webhooks' -v",
                _routes_run,
                code=1,
                seconds=48.0,
            ),
        ),
        say(
            "The tests for webhooks still send the API key. I look at them before I change them.",
            read("tests/test_webhooks.py"),
        ),
        say("", bash("sh /tmp/use_token_header.sh tests/test_webhooks.py", _use_token_header)),
        say(
            "",
            bash(
                "pytest tests -k webhooks -v",
                lambda tree: pytest_run(test_names(tree.files, "tests/test_webhooks"), seconds=9.1),
                seconds=10.0,
            ),
        ),
        say(
            """
The three routers now want tokens:

- `app/auth/deps.py` has `bearer_token`, `current_claims` and `require_scope`.
- Lists, reads and changes are limited to the token's `cid`: a parcel of somebody else is a 404.
- The error codes are the four that you named.

One oddity: `tests/test_webhooks.py::test_retry_backoff_is_capped` was skipped with "flaky, see
PARCEL-2093". I left it alone.
"""
        ),
    ]


_NO_FIXTURE = """____________ ERROR at setup of test_unknown_key_is_refused ____________
file /home/you/parcel-api/tests/test_tokens.py, line 83
  def test_unknown_key_is_refused(ring: KeyRing, other_ring: KeyRing) -> None:
E       fixture 'other_ring' not found
>       available fixtures: anyio_backend, client, connection, make_parcel, make_shipment,
>       make_webhook, monkeypatch, ring, session, settings, tmp_path, tmp_path_factory
>       use 'pytest --fixtures [testpath]' for help on them."""


def _use_claims(tree: Workspace) -> str:
    for name in CHANGED_ROUTERS:
        path = f"app/routers/{name}.py"
        scope = "webhooks:manage" if name == "webhooks" else f"{name}:read"
        text = tree.files[path]
        text = text.replace("Caller, Depends(require_api_key)", f'Claims, Depends(require_scope("{scope}"))')
        text = text.replace("caller.caller_id", "claims.subject").replace("    caller:", "    claims:")
        text = text.replace("from app.deps import Caller, require_api_key\n", "")
        head = "from app.auth.deps import require_scope\nfrom app.auth.tokens import Claims\n"
        tree.files[path] = text.replace("from app.db import", f"{head}from app.db import")
    return "parcels.py: 13 replacements\nshipments.py: 12 replacements\nwebhooks.py: 12 replacements"


def _scope_repositories(tree: Workspace) -> str:
    for name in CHANGED_ROUTERS:
        path = f"app/repositories/{name}.py"
        text = tree.files[path].replace(
            "def __init__(self, session: AsyncSession) -> None:\n        self._session = session\n",
            "def __init__(self, session: AsyncSession, customer_id: UUID | None = None) -> None:\n"
            "        self._session = session\n        self._customer_id = customer_id\n",
        )
        tree.files[path] = text.replace(
            ".deleted_at.is_(None))\n\n    async def get(",
            ".deleted_at.is_(None), *self._own())\n\n    async def get(",
        )
    return "3 files changed: every query goes through _visible, which now adds the customer"


def _mypy(tree: Workspace) -> str:
    routers = {path: tree.files[path] for path in tree.files if path[:11] == "app/routers"}
    chosen = {p: t for p, t in routers.items() if p[12:-3] in CHANGED_ROUTERS}
    message = 'Too many arguments for "get_repository": claims.customer_id  [call-arg]'
    return mypy_report(chosen, "repository: Annotated", message)


def _routes_run(tree: Workspace) -> str:
    names = [name for part in CHANGED_ROUTERS for name in test_names(tree.files, f"tests/test_{part}")]
    failed = ["test_list_is_filtered_by_target_url", "test_pending_may_become"]
    return pytest_run(names, failed=failed, report=_KEY_REFUSED, n_deselected=1311, seconds=44.1)


_KEY_REFUSED = """______________________ test_list_is_filtered_by_target_url ______________________
tests/test_webhooks.py:118: in test_list_is_filtered_by_target_url
    assert [item["id"] for item in response.json()["items"]] == [str(wanted.id)]
E   KeyError: 'items'
----------------------------- Captured stdout call -----------------------------
{'code': 'AUTH_TOKEN_MISSING', 'message': 'A bearer token is needed.'}
____________________________ test_pending_may_become ____________________________
tests/test_webhooks.py:171: in test_pending_may_become
    assert response.status_code == 200
E   assert 401 == 200
E    +  where 401 = <Response [401 Unauthorized]>.status_code"""


def _use_token_header(tree: Workspace) -> str:
    text = tree.files["tests/test_webhooks.py"]
    tree.files["tests/test_webhooks.py"] = text.replace("API_KEY", "TOKEN")
    return f"{text.count('API_KEY')} replacements"


def _callbacks() -> list[Step]:
    return [
        user(
            """
Good. Does anything change for the carriers? Their callbacks `/v1/carriers/{id}/…` and the scanners
(`/v1/scans`) must keep working with the API key, they cannot do JWT before 2027. Check that, please,
including labels and depots.
""",
            wait_s=300,
        ),
        say("", read("app/routers/carriers.py"), read("app/routers/scans.py")),
        say("", read("app/repositories/carriers.py"), read("app/repositories/scans.py")),
        say("", read("tests/test_carriers.py"), read("tests/test_scans.py")),
        say("", read("app/routers/labels.py"), read("app/routers/depots.py")),
        say("", read("app/repositories/customers.py"), read("tests/test_customers.py")),
        say(
            "Their tables, in case a foreign key leads to customers.",
            bash(
                "psql -p 5432 parcel -c '\\d parcels' -c '\\d shipments' -c '\\d scans'",
                "\n\n".join(table_definition(res) for res in (PARCEL, SHIPMENT, SCAN)),
            ),
            grep("Depends\\(require_api_key\\)", "app/routers", "[cdls]*.py"),
        ),
        say(
            "",
            bash(
                "pytest tests -k 'carriers or scans or labels or depots' -v",
                lambda tree: pytest_run(
                    [
                        name
                        for part in ("carriers", "scans", "labels", "depots")
                        for name in test_names(tree.files, f"tests/test_{part}")
                    ],
                    n_deselected=1298,
                    seconds=37.2,
                ),
                seconds=39.0,
            ),
        ),
        say(
            "Nothing changes for them: carriers, scans, labels, depots and customers still depend on"
            " `require_api_key` and their tests pass. `app/deps.py` is untouched."
        ),
    ]


def _refresh() -> list[Step]:
    return [
        user(
            """
Then the refresh tokens, point 4 and 5 of the plan. Opaque random strings, only the SHA-256 in the
database, rotated at each use. If an old one comes back, revoke the whole family. Logout can wait.
""",
            wait_s=200,
        ),
        say(
            "First the table, as a model; the migration comes from `make migration`.",
            write("app/models/refresh_token.py", code.REFRESH_MODEL),
        ),
        say("", bash("make migration name=add_refresh_tokens", _make_migration, seconds=7.0)),
        say(
            "Generated as number 0018, revision `b7d41c09e2aa`. I read it, but do not edit it.",
            read("migrations/versions/0018_add_refresh_tokens.py"),
        ),
        say("", bash("make migrate", _MIGRATED, seconds=5.0)),
        say("", write("app/auth/refresh.py", code.REFRESH)),
        say(
            "Sign-in needs users; there is a table since revision 0011.",
            write("app/auth/users.py", code.USERS),
        ),
        say("", write("app/routers/auth.py", code.AUTH_ROUTER)),
        say(
            "",
            edit(
                "app/main.py",
                ("from app.routers import (\n    carriers,", "from app.routers import (\n    auth,\n    carriers,"),
                ("for module in (parcels,", "for module in (auth, parcels,"),
            ),
        ),
        say("", write("tests/test_refresh.py", texts.TEST_REFRESH)),
        say("", numbered("tests/conftest.py", 1, 110), cat("app/routers/auth.py", "app/main.py")),
        say(
            "",
            bash(
                "pytest tests -k refresh -v",
                lambda tree: pytest_run(
                    test_names(tree.files, "tests/test_refresh"), n_deselected=1484, seconds=6.8
                ),
                seconds=8.0,
            ),
        ),
        say("", diff("app/main.py", "app/config.py", "app/errors.py", "app/repositories", "pyproject.toml")),
        say(
            "Refresh tokens work: `app/auth/refresh.py` issues, rotates and revokes by family,"
            " `POST /v1/auth/login` and `POST /v1/auth/refresh` are in `app/routers/auth.py`, the JWKS"
            " document is served from there too with `max-age=300`. Migration 0018"
            " (`b7d41c09e2aa`) was generated and applied to the local database."
        ),
    ]


_MIGRATED = """alembic upgrade head
INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
INFO  [alembic.runtime.migration] Will assume transactional DDL.
INFO  [alembic.runtime.migration] Running upgrade 5f0c33d81b64 -> b7d41c09e2aa, add_refresh_tokens"""


def _make_migration(tree: Workspace) -> str:
    path = "migrations/versions/0018_add_refresh_tokens.py"
    tree.write(path, code.MIGRATION)
    return (
        'alembic revision --autogenerate -m "add_refresh_tokens" --rev-id "b7d41c09e2aa"\n'
        "INFO  [alembic.autogenerate.compare] Detected added table 'refresh_tokens'\n"
        "INFO  [alembic.autogenerate.compare] Detected added index 'ix_refresh_tokens_family_id'\n"
        "INFO  [alembic.autogenerate.compare] Detected added index 'ix_refresh_tokens_subject'\n"
        f"  Generating /home/you/parcel-api/{path} ...  done\n"
        f"python -m scripts.number_revision\nnumbered 0018: {path}"
    )
