"""A model that is named and not used is told of with its reason, wherever a summary is shown."""

from pathlib import Path

import pytest

from model_server import Reply, error_reply, serving, text_reply
from model_session import endpoint_of
from pi_files import conversation
from planning import loaded
from ullage.app.change.compact import Plan, Request, plan_compaction
from ullage.app.change.compact_report import preview_text, report_plan
from ullage.app.change.preview import CompactionPreview, make_preview
from ullage.app.summary.write import ModelUse, model_use
from ullage.core.config.settings import Config, ModelSettings, Policy
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

CONFIG = Config(policy=Policy(summarize_protect_tokens=3000))
OVERFLOW = error_reply(400, {"error": {"code": "context_length_exceeded", "message": "no"}})


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(conversation(40, chars=600, usage=195_000, cwd=str(tmp_path)).data)
    make_idle(path)
    return path


async def note_of(path: Path, places: Places, model: ModelUse) -> str:
    """Plan a compaction, and give the one note that all its reports have."""
    plan = await plan_compaction(loaded(path, places, CONFIG), Request(), CONFIG, places, model)
    assert isinstance(plan, Plan)
    (note,) = plan.summary.warnings
    report = report_plan(plan)
    assert report.audit is not None
    assert (report.audit.by, report.audit.warnings) == ("extractive", [note])
    assert f"Note: {note}" in preview_text(plan).split("\n")
    known = loaded(path, places, CONFIG)
    preview = await make_preview(known, None, None, CONFIG, places, model, {})
    assert isinstance(preview, CompactionPreview)
    proposed = preview.proposed_path.read_text("utf-8").split("\n")
    assert f"Note: {note}" in proposed
    return note


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (error_reply(401), "does not take the key"),
        (text_reply("I'm sorry, I cannot help with that."), "refused"),
    ],
)
async def test_a_model_that_fails_is_named_with_its_reason(
    session: Path, places: Places, reply: Reply, reason: str
) -> None:
    async with serving(reply) as server:
        note = await note_of(session, places, ModelUse(endpoint=endpoint_of(server)))
    assert note.startswith("summarized without a model; custom/m was not used: ")
    assert reason in note


async def test_where_all_tiers_fail_the_plain_note_reaches_the_user(
    session: Path, places: Places
) -> None:
    async with serving(OVERFLOW) as server:
        note = await note_of(session, places, ModelUse(endpoint=endpoint_of(server)))
    assert note.startswith("summarized without a model; custom/m was not used: Context contained ")
    assert note.endswith(" messages (0 oversized). Summary unavailable due to size limits.")


async def test_a_model_that_cannot_be_asked_is_named_with_its_reason(
    session: Path, places: Places
) -> None:
    model = model_use(ModelSettings(provider="openai", name="gpt-5"), places)
    note = await note_of(session, places, model)
    without = "summarized without a model; openai/gpt-5 was not used"
    assert note.startswith(f"{without}: there is no key for https://api.openai.com: set OPENAI_API")


@pytest.mark.parametrize("settings", [ModelSettings(), ModelSettings(temperature=0.7)])
def test_where_no_model_was_named_none_is_asked_or_missed(
    places: Places, settings: ModelSettings
) -> None:
    places.env["OPENROUTER_API_KEY"] = "a-key-that-happens-to-be-there"
    assert model_use(settings, places) == ModelUse()
