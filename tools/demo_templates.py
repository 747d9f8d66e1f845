"""Source files of the invented parcel API that follow from a resource."""

from collections.abc import Callable

from demo_resources import Field, Resource

_PYTHON_TYPES = {
    "str": "str",
    "int": "int",
    "bool": "bool",
    "datetime": "datetime",
    "date": "date",
    "uuid": "UUID",
    "decimal": "Decimal",
}
_COLUMN_TYPES = {
    "int": "Integer",
    "bool": "Boolean",
    "datetime": "DateTime(timezone=True)",
    "date": "Date",
    "uuid": "Uuid",
    "decimal": "Numeric(12, 2)",
}


def files_of(resource: Resource) -> dict[str, str]:
    """Make every file of a resource, by path."""
    makers: dict[str, Callable[[Resource], str]] = {
        f"app/models/{resource.name}.py": _model,
        f"app/schemas/{resource.name}.py": _schema,
        f"app/repositories/{resource.plural}.py": _repository,
        f"app/routers/{resource.plural}.py": _router,
        f"tests/test_{resource.plural}.py": _tests,
    }
    return {path: make(resource) for path, make in makers.items()}


def python_type(field: Field) -> str:
    """Name the annotation of a field."""
    name = _PYTHON_TYPES[field.kind]
    return name if field.is_required else f"{name} | None"


def _column(field: Field) -> str:
    kind = _COLUMN_TYPES.get(field.kind, f"String({field.max_chars})")
    flags = ", index=True" if field.is_indexed or field.kind == "uuid" else ""
    null = "" if field.is_required else ", nullable=True"
    return f"    {field.name}: Mapped[{python_type(field)}] = mapped_column({kind}{flags}{null})"


def _model(res: Resource) -> str:
    states = "\n".join(f'    {state.upper()} = "{state}"' for state, _ in res.states)
    moves = "\n".join(
        f"    {res.enum_name}.{state.upper()}: frozenset({{{_members(res, after)}}}),"
        if after
        else f"    {res.enum_name}.{state.upper()}: frozenset(),"
        for state, after in res.states
    )
    columns = "\n".join(f'{_column(field)}\n    """{field.note}."""' for field in res.fields)
    return f'''"""{res.about}: its table."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID, uuid4

from sqlalchemy import Boolean, Date, DateTime, Enum, Integer, Numeric, String, Uuid, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base


class {res.enum_name}(StrEnum):
    """States of a {res.name}, as they stand in the database and in the API."""

{states}


MOVES: dict[{res.enum_name}, frozenset[{res.enum_name}]] = {{
{moves}
}}
"""Which state may follow which."""


class {res.class_name}(Base):
    """{res.about}."""

    __tablename__ = "{res.plural}"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True, default=uuid4)
{columns}
    status: Mapped[{res.enum_name}] = mapped_column(
        Enum({res.enum_name}, native_enum=False, length=24),
        default={res.enum_name}.{res.states[0][0].upper()},
        index=True,
    )
    created_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now()
    )
    updated_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now(), onupdate=func.now()
    )
    deleted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True), nullable=True)

    def may_become(self, status: {res.enum_name}) -> bool:
        """Tell whether this {res.name} may change into a state."""
        return status in MOVES[self.status]
'''


def _members(res: Resource, states: tuple[str, ...]) -> str:
    return ", ".join(f"{res.enum_name}.{state.upper()}" for state in states)


def _schema(res: Resource) -> str:
    required = "\n".join(_schema_line(field) for field in res.fields)
    optional = "\n".join(
        f"    {field.name}: {_PYTHON_TYPES[field.kind]} | None = None" for field in res.fields
    )
    filters = "\n".join(
        f'    {field.name}: {_PYTHON_TYPES[field.kind]} | None = Query(None, description="{field.note}")'
        for field in res.fields
        if field.is_indexed or field.kind in ("uuid", "bool")
    )
    return f'''"""{res.about}: what the API takes and gives."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from app.models.{res.name} import {res.enum_name}


class {res.class_name}Create(BaseModel):
    """Body of `POST /v1/{res.plural}`."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

{required}


class {res.class_name}Update(BaseModel):
    """Body of `PATCH /v1/{res.plural}/{{id}}`; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

{optional}


class {res.class_name}Out({res.class_name}Create):
    """A {res.name} as the API shows it."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")

    id: UUID
    status: {res.enum_name}
    created_at: datetime
    updated_at: datetime


class {res.class_name}Page(BaseModel):
    """One page of {res.plural} and the number of all of them."""

    items: list[{res.class_name}Out]
    total: int
    next_cursor: str | None = None


class {res.class_name}Filter(BaseModel):
    """What a list of {res.plural} may be narrowed by."""

    status: {res.enum_name} | None = Query(None, description="State of the {res.name}")
{filters}
    created_after: datetime | None = Query(None, description="Created at this time or later")
    created_before: datetime | None = Query(None, description="Created before this time")
'''


def _schema_line(field: Field) -> str:
    limits = ""
    if field.kind == "str":
        limits = f", min_length=1, max_length={field.max_chars}"
    elif field.kind in ("int", "decimal") and not field.name.endswith("_db"):
        limits = ", ge=0"
    default = "..." if field.is_required else "None"
    return (
        f"    {field.name}: {python_type(field)} = Field({default}{limits},"
        f' description="{field.note}")'
    )


def _finder(res: Resource, field: Field) -> str:
    kind = _PYTHON_TYPES[field.kind]
    return f'''
    async def list_by_{field.name}(self, {field.name}: {kind}, limit: int = 100) -> list[{res.class_name}]:
        """List {res.plural} by {field.note[0].lower() + field.note[1:]}, newest first."""
        statement = (
            self._visible()
            .where({res.class_name}.{field.name} == {field.name})
            .order_by({res.class_name}.created_at.desc())
            .limit(limit)
        )
        return list((await self._session.scalars(statement)).all())

    async def count_by_{field.name}(self, {field.name}: {kind}) -> int:
        """Count {res.plural} by {field.note[0].lower() + field.note[1:]}."""
        statement = select(func.count()).select_from(
            self._visible().where({res.class_name}.{field.name} == {field.name}).subquery()
        )
        return int((await self._session.scalar(statement)) or 0)
'''


def _between(res: Resource, field: Field) -> str:
    return f'''
    async def list_{field.name}_between(
        self, start: datetime, end: datetime, status: {res.enum_name} | None = None
    ) -> list[{res.class_name}]:
        """List {res.plural} by {field.note[0].lower() + field.note[1:]}, start included, end not."""
        statement = self._visible().where(
            {res.class_name}.{field.name} >= start, {res.class_name}.{field.name} < end
        )
        if status is not None:
            statement = statement.where({res.class_name}.status == status)
        statement = statement.order_by({res.class_name}.{field.name}, {res.class_name}.id)
        return list((await self._session.scalars(statement)).all())
'''


def _repository(res: Resource) -> str:
    finders = "".join(
        _finder(res, field) for field in res.fields if field.is_indexed or field.kind == "uuid"
    )
    between = "".join(_between(res, field) for field in res.fields if field.kind == "datetime")
    filters = "\n".join(
        f"        if filters.{field.name} is not None:\n"
        f"            statement = statement.where({res.class_name}.{field.name} == filters.{field.name})"
        for field in res.fields
        if field.is_indexed or field.kind in ("uuid", "bool")
    )
    first = res.fields[0].name
    return f'''"""Queries for {res.plural}."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import ConflictError, NotFoundError, StateError
from app.models.{res.name} import {res.class_name}, {res.enum_name}
from app.pagination import Page, encode_cursor
from app.schemas.{res.name} import {res.class_name}Create, {res.class_name}Filter, {res.class_name}Update


class {res.class_name}Repository:
    """Reads and writes {res.plural} through one database session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def _visible(self) -> Select[tuple[{res.class_name}]]:
        return select({res.class_name}).where({res.class_name}.deleted_at.is_(None))

    async def get(self, {res.name}_id: UUID) -> {res.class_name}:
        """Give one {res.name}; raises NotFoundError."""
        found = await self._session.scalar(self._visible().where({res.class_name}.id == {res.name}_id))
        if found is None:
            raise NotFoundError("{res.name}", {res.name}_id)
        return found

    async def get_for_update(self, {res.name}_id: UUID) -> {res.class_name}:
        """Give one {res.name} and lock its row until the transaction ends."""
        statement = self._visible().where({res.class_name}.id == {res.name}_id).with_for_update()
        found = await self._session.scalar(statement)
        if found is None:
            raise NotFoundError("{res.name}", {res.name}_id)
        return found

    async def list_page(
        self, page: Page, filters: {res.class_name}Filter
    ) -> tuple[Sequence[{res.class_name}], int, str | None]:
        """Give one page of {res.plural}, the number of all of them, and the next cursor."""
        statement = self._filtered(filters)
        total = await self._session.scalar(select(func.count()).select_from(statement.subquery()))
        if page.cursor is not None:
            statement = statement.where({res.class_name}.id > page.cursor)
        statement = statement.order_by({res.class_name}.id).limit(page.size + 1)
        rows = list((await self._session.scalars(statement)).all())
        cursor = encode_cursor(rows[page.size - 1].id) if len(rows) > page.size else None
        return rows[: page.size], int(total or 0), cursor

    def _filtered(self, filters: {res.class_name}Filter) -> Select[tuple[{res.class_name}]]:
        statement = self._visible()
        if filters.status is not None:
            statement = statement.where({res.class_name}.status == filters.status)
{filters}
        if filters.created_after is not None:
            statement = statement.where({res.class_name}.created_at >= filters.created_after)
        if filters.created_before is not None:
            statement = statement.where({res.class_name}.created_at < filters.created_before)
        return statement

    async def create(self, data: {res.class_name}Create) -> {res.class_name}:
        """Insert a {res.name}; raises ConflictError where `{first}` is taken."""
        if await self._is_taken(data):
            raise ConflictError("{res.name}", "{first}", str(data.{first}))
        {res.name} = {res.class_name}(**data.model_dump())
        self._session.add({res.name})
        await self._session.flush()
        return {res.name}

    async def _is_taken(self, data: {res.class_name}Create) -> bool:
        statement = self._visible().where({res.class_name}.{first} == data.{first}).limit(1)
        return (await self._session.scalar(statement)) is not None

    async def update(self, {res.name}_id: UUID, data: {res.class_name}Update) -> {res.class_name}:
        """Change the fields that are given; raises NotFoundError."""
        {res.name} = await self.get_for_update({res.name}_id)
        for key, value in data.model_dump(exclude_unset=True).items():
            setattr({res.name}, key, value)
        await self._session.flush()
        return {res.name}

    async def move(self, {res.name}_id: UUID, status: {res.enum_name}) -> {res.class_name}:
        """Change the state; raises StateError where the move is not allowed."""
        {res.name} = await self.get_for_update({res.name}_id)
        if not {res.name}.may_become(status):
            raise StateError("{res.name}", {res.name}.status, status)
        {res.name}.status = status
        await self._session.flush()
        return {res.name}

    async def soft_delete(self, {res.name}_id: UUID) -> None:
        """Hide a {res.name} from every query; the row stays for the audit."""
        {res.name} = await self.get_for_update({res.name}_id)
        {res.name}.deleted_at = datetime.now(UTC)
        await self._session.flush()

    async def upsert_many(self, items: Iterable[{res.class_name}Create]) -> int:
        """Insert {res.plural} or bring them up to date by `{first}`; gives the number of rows."""
        rows = [item.model_dump() for item in items]
        if not rows:
            return 0
        statement = insert({res.class_name}).values(rows)
        statement = statement.on_conflict_do_update(
            index_elements=[{res.class_name}.{first}],
            set_={{key: statement.excluded[key] for key in rows[0] if key != "{first}"}},
        )
        result = await self._session.execute(statement)
        return int(result.rowcount)

    async def expire_stale(self, before: datetime, status: {res.enum_name}) -> int:
        """Hide {res.plural} that have stood in a state since before a time."""
        statement = (
            update({res.class_name})
            .where({res.class_name}.status == status, {res.class_name}.updated_at < before)
            .where({res.class_name}.deleted_at.is_(None))
            .values(deleted_at=func.now())
        )
        result = await self._session.execute(statement)
        return int(result.rowcount)
{finders}{between}'''


def _action(res: Resource, state: str) -> str:
    return f'''

@router.post("/{{{res.name}_id}}/{state.replace("_", "-")}", response_model={res.class_name}Out)
async def mark_{res.name}_{state}(
    {res.name}_id: UUID,
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    events: Annotated[EventBus, Depends(get_event_bus)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> {res.class_name}:
    """Move a {res.name} into the state `{state}`; 409 where that is not allowed."""
    {res.name} = await repository.move({res.name}_id, {res.enum_name}.{state.upper()})
    await events.publish("{res.name}.{state}", {res.name}_id, caller_id=caller.caller_id)
    logger.info("{res.name} %s is now {state}, by %s", {res.name}_id, caller.caller_id)
    return {res.name}
'''


def _router(res: Resource) -> str:
    actions = "".join(_action(res, state) for state, _ in res.states[1:])
    columns = ", ".join(f'"{field.name}"' for field in res.fields)
    return f'''"""Routes below `/v1/{res.plural}`."""

import csv
import io
import logging
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status
from fastapi.responses import StreamingResponse
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import get_session
from app.deps import Caller, require_api_key
from app.events import EventBus, get_event_bus
from app.models.{res.name} import {res.class_name}, {res.enum_name}
from app.pagination import Page, page_from_query
from app.repositories.{res.plural} import {res.class_name}Repository
from app.schemas.{res.name} import (
    {res.class_name}Create,
    {res.class_name}Filter,
    {res.class_name}Out,
    {res.class_name}Page,
    {res.class_name}Update,
)

router = APIRouter(prefix="/v1/{res.plural}", tags=["{res.plural}"])
logger = logging.getLogger(__name__)

CSV_COLUMNS = ("id", {columns}, "status", "created_at")
CSV_BATCH = 500


async def get_repository(
    session: Annotated[AsyncSession, Depends(get_session)],
) -> {res.class_name}Repository:
    """Give the repository that shares the request's session."""
    return {res.class_name}Repository(session)


@router.get("", response_model={res.class_name}Page)
async def list_{res.plural}(
    page: Annotated[Page, Depends(page_from_query)],
    filters: Annotated[{res.class_name}Filter, Depends()],
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> {res.class_name}Page:
    """List {res.plural}, a page at a time."""
    rows, total, cursor = await repository.list_page(page, filters)
    logger.debug("caller %s listed %d of %d {res.plural}", caller.caller_id, len(rows), total)
    return {res.class_name}Page(
        items=[{res.class_name}Out.model_validate(row) for row in rows],
        total=total,
        next_cursor=cursor,
    )


@router.get("/export.csv")
async def export_{res.plural}(
    filters: Annotated[{res.class_name}Filter, Depends()],
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> StreamingResponse:
    """Stream {res.plural} as CSV, oldest first."""
    logger.info("caller %s exports {res.plural}", caller.caller_id)
    return StreamingResponse(
        _csv_lines(repository, filters),
        media_type="text/csv",
        headers={{"Content-Disposition": 'attachment; filename="{res.plural}.csv"'}},
    )


async def _csv_lines(
    repository: {res.class_name}Repository, filters: {res.class_name}Filter
) -> AsyncIterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(CSV_COLUMNS)
    page = Page(size=CSV_BATCH, cursor=None)
    while True:
        rows, _, cursor = await repository.list_page(page, filters)
        for row in rows:
            writer.writerow([getattr(row, column) for column in CSV_COLUMNS])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        if cursor is None:
            return
        page = Page.after(cursor, size=CSV_BATCH)


@router.get("/{{{res.name}_id}}", response_model={res.class_name}Out)
async def get_{res.name}(
    {res.name}_id: UUID,
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> {res.class_name}:
    """Give one {res.name}; 404 where there is none."""
    return await repository.get({res.name}_id)


@router.post("", response_model={res.class_name}Out, status_code=status.HTTP_201_CREATED)
async def create_{res.name}(
    data: {res.class_name}Create,
    response: Response,
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    events: Annotated[EventBus, Depends(get_event_bus)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> {res.class_name}:
    """Create a {res.name}; 409 where it exists already."""
    {res.name} = await repository.create(data)
    await events.publish("{res.name}.created", {res.name}.id, caller_id=caller.caller_id)
    response.headers["Location"] = f"/v1/{res.plural}/{{{res.name}.id}}"
    return {res.name}


@router.patch("/{{{res.name}_id}}", response_model={res.class_name}Out)
async def update_{res.name}(
    {res.name}_id: UUID,
    data: {res.class_name}Update,
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    events: Annotated[EventBus, Depends(get_event_bus)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> {res.class_name}:
    """Change the fields that are given."""
    {res.name} = await repository.update({res.name}_id, data)
    await events.publish("{res.name}.updated", {res.name}_id, caller_id=caller.caller_id)
    return {res.name}


@router.delete("/{{{res.name}_id}}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_{res.name}(
    {res.name}_id: UUID,
    repository: Annotated[{res.class_name}Repository, Depends(get_repository)],
    events: Annotated[EventBus, Depends(get_event_bus)],
    caller: Annotated[Caller, Depends(require_api_key)],
) -> None:
    """Hide a {res.name}; it stays in the audit log."""
    await repository.soft_delete({res.name}_id)
    await events.publish("{res.name}.deleted", {res.name}_id, caller_id=caller.caller_id)
{actions}'''


def _field_test(res: Resource, field: Field) -> str:
    return f'''

async def test_{field.name}_is_required(client: AsyncClient) -> None:
    body = {res.name}_body()
    del body["{field.name}"]
    response = await client.post("/v1/{res.plural}", json=body, headers=API_KEY)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "{field.name}"]
'''


def _filter_test(res: Resource, field: Field) -> str:
    return f'''

async def test_list_is_filtered_by_{field.name}(client: AsyncClient, make_{res.name}: Make) -> None:
    wanted = await make_{res.name}()
    await make_{res.name}({field.name}=other("{field.name}"))
    query = {{"{field.name}": str(wanted.{field.name})}}
    response = await client.get("/v1/{res.plural}", params=query, headers=API_KEY)
    assert [item["id"] for item in response.json()["items"]] == [str(wanted.id)]
'''


def _move_test(res: Resource, state: str, after: tuple[str, ...]) -> str:
    allowed = ", ".join(f'"{name}"' for name in after)
    return f"""

@pytest.mark.parametrize("target", [{allowed}])
async def test_{state}_may_become(client: AsyncClient, make_{res.name}: Make, target: str) -> None:
    {res.name} = await make_{res.name}(status={res.enum_name}.{state.upper()})
    path = f"/v1/{res.plural}/{{{res.name}.id}}/{{target.replace('_', '-')}}"
    response = await client.post(path, headers=API_KEY)
    assert response.status_code == 200
    assert response.json()["status"] == target
"""


def _tests(res: Resource) -> str:
    body = "\n".join(f'        "{field.name}": {field.sample},' for field in res.fields)
    required = "".join(_field_test(res, field) for field in res.fields if field.is_required)
    filters = "".join(
        _filter_test(res, field)
        for field in res.fields
        if field.is_indexed or field.kind in ("uuid", "bool")
    )
    moves = "".join(_move_test(res, state, after) for state, after in res.states if after)
    return f'''"""{res.title}s over HTTP."""

from decimal import Decimal

import pytest
from httpx import AsyncClient

from app.models.{res.name} import {res.enum_name}
from tests.support import (
    API_KEY,
    CARRIER_ID,
    CONTRACT_END,
    CUSTOMER_ID,
    DEPOT_ID,
    NOON,
    PARCEL_ID,
    SHIPMENT_ID,
    Make,
    jsonable,
    other,
)

pytestmark = pytest.mark.anyio


def {res.name}_body() -> dict[str, object]:
    values = {{
{body}
    }}
    return jsonable(values)


async def test_create_and_get(client: AsyncClient) -> None:
    created = await client.post("/v1/{res.plural}", json={res.name}_body(), headers=API_KEY)
    assert created.status_code == 201
    assert created.headers["Location"] == f"/v1/{res.plural}/{{created.json()['id']}}"
    found = await client.get(created.headers["Location"], headers=API_KEY)
    assert found.json() == created.json()


async def test_create_twice_is_a_conflict(client: AsyncClient) -> None:
    body = {res.name}_body()
    await client.post("/v1/{res.plural}", json=body, headers=API_KEY)
    second = await client.post("/v1/{res.plural}", json=body, headers=API_KEY)
    assert second.status_code == 409
    assert second.json()["code"] == "CONFLICT"


async def test_unknown_is_not_found(client: AsyncClient) -> None:
    response = await client.get("/v1/{res.plural}/00000000-0000-4000-8000-000000000000", headers=API_KEY)
    assert response.status_code == 404
    assert response.json()["code"] == "NOT_FOUND"


async def test_deleted_is_hidden(client: AsyncClient, make_{res.name}: Make) -> None:
    {res.name} = await make_{res.name}()
    path = f"/v1/{res.plural}/{{{res.name}.id}}"
    assert (await client.delete(path, headers=API_KEY)).status_code == 204
    assert (await client.get(path, headers=API_KEY)).status_code == 404
{required}{filters}{moves}'''
