"""The next summary is prepared before it is due, and stands for what it was written for alone."""

from pathlib import Path

import msgspec
import pytest

from model_server import Asked, ModelServer, Reply, error_reply, served, serving, text_reply
from model_session import GOOD, endpoint_of
from pi_files import PiFile
from planning import count, loaded, undone
from secret_samples import SAMPLES
from ullage.app.change.auto import decline, make_auto, plan_auto
from ullage.app.change.compact import Plan, Request, plan_compaction
from ullage.app.change.prepared import (
    MAX_ASKED,
    MORE_KEPT_RATIO,
    forget_spent,
    plan_with_prepared,
    prepare_summary,
)
from ullage.app.change.prepared_file import PREPARED_FILE, PreparedSummary, store_prepared
from ullage.app.change.preview import CompactionPreview, make_preview, plan_proposed
from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import pin_text
from ullage.app.summary.write import EXTRACTIVE, ModelUse
from ullage.core.change.due import is_summary_near
from ullage.core.config.settings import Config, Policy
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

WINDOW, PROTECTED = 10_000, 1_250
CONFIG = Config(
    window_tokens=WINDOW,
    policy=Policy(
        summarize_protect_tokens=PROTECTED,
        full_protect_tokens=750,
        is_prune_enabled=False,
        reserve_tokens=200,
        soft_tokens=100,
        notifies_before_auto=False,
    ),
)
REPLY = text_reply(GOOD)


class Session:
    """A session that grows turn by turn, with nothing reported: what it holds is counted."""

    def __init__(self, path: Path, places: Places) -> None:
        self.path, self.places, self.pi, self.n_turns = path, places, PiFile(cwd=str(places.cwd)), 0
        self.turn("Only use the blue theme, never the red one.")

    def turn(self, text: str) -> None:
        self.pi.user(text)
        self.pi.assistant(
            f"File {self.n_turns} does the thing number {self.n_turns}. " * 8, usage=None
        )
        self.n_turns += 1

    def grow_to(self, share: float, config: Config = CONFIG) -> Loaded:
        """Add turns until so much of the window is used."""
        while True:
            self.path.write_bytes(self.pi.data)
            make_idle(self.path)
            known = loaded(self.path, self.places, config)
            n_missing = share * WINDOW - (known.status.gauge.used_tokens or 0)
            if n_missing <= 0:
                return known
            for _ in range(max(1, int(n_missing / 120))):
                self.turn(f"Please look at file number {self.n_turns} and tell me what it does.")


@pytest.fixture
def session(tmp_path: Path, places: Places) -> Session:
    """A session of a pi that never compacts by itself: thresholds are shares of the window."""
    settings = places.home / ".pi" / "agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"compaction": {"enabled": false}}', encoding="utf-8")
    return Session(tmp_path / "s.jsonl", places)


async def prepared(
    known: Loaded, places: Places, model: ModelUse | None = None, config: Config = CONFIG
) -> PreparedSummary | None:
    """Prepare as a quiet moment does; give what was written anew."""
    if not is_summary_near(known.status.gauge, known.policy):
        return None
    summary = await prepare_summary(known, config, places, model or ModelUse())
    if summary is not None:
        store_prepared(summary, known.session.state_key, places)
    return summary


async def due(known: Loaded, places: Places, model: ModelUse | None = None) -> Plan:
    plan = (await plan_auto(known, CONFIG, places, model or ModelUse())).plan
    assert isinstance(plan, Plan)
    return plan


async def asked_for(
    known: Loaded, places: Places, model: ModelUse | None = None, **changes: object
) -> Plan:
    request = msgspec.convert(changes, Request)
    plan = await plan_with_prepared(known, request, CONFIG, places, model or ModelUse())
    assert isinstance(plan, Plan)
    return plan


async def test_it_is_prepared_from_three_quarters_until_it_is_due(
    session: Session, places: Places
) -> None:
    n_prepared = [
        await prepared(session.grow_to(share), places) is not None
        for share in (0.74, 0.75, 0.80, 0.88)
    ]
    assert n_prepared == [False, True, True, False]


async def test_what_is_prepared_is_what_would_be_written(session: Session, places: Places) -> None:
    known = session.grow_to(0.80)
    plain = await plan_compaction(known, Request(), CONFIG, places, ModelUse())
    assert isinstance(plain, Plan)
    assert await prepared(known, places) is not None
    again = await asked_for(known, places)
    assert (again.summary, again.selection) == (plain.summary, plain.selection)
    assert await prepared(known, places) is None


async def test_it_is_used_when_it_is_due_and_what_came_since_stays(
    session: Session, places: Places
) -> None:
    ready = await prepared(session.grow_to(0.86), places)
    assert ready is not None
    session.turn("Never touch the table named invoices_2026 by hand.")
    known = session.grow_to(0.88)
    plan = await due(known, places)
    assert plan.summary.text == ready.summary.text
    assert "tokens that came since could go as well" in plan.summary.warnings[0]
    assert len(plan.selection.replaced) == ready.n_replaced
    kept = [str(item.native) for item in plan.selection.kept]
    assert sum("invoices_2026" in text for text in kept) == 1
    made = make_auto(plan, CONFIG, places)
    assert not PREPARED_FILE.path(known.session.state_key, places).exists()
    assert made.context.items == plan.change.context_after.items
    assert any("invoices_2026" in str(item.native) for item in made.context.items)
    make_idle(session.path)
    before = known.context.items
    assert undone(session.path, places, CONFIG).after.context.items == before


async def test_what_stays_behind_its_cut_has_a_limit(session: Session, places: Places) -> None:
    first = await prepared(session.grow_to(0.75), places)
    assert first is not None
    within = await due(session.grow_to(0.88), places)
    assert within.summary != first.summary
    assert within.selection.cut.n_tokens_kept <= PROTECTED


async def test_a_command_without_a_model_is_as_without_preparing(
    session: Session, places: Places
) -> None:
    ready = await prepared(session.grow_to(0.80), places)
    known = session.grow_to(0.82)
    assert ready is not None
    plan = await asked_for(known, places)
    plain = await plan_compaction(known, Request(), CONFIG, places, ModelUse())
    assert isinstance(plain, Plan)
    assert (plan.summary, plan.selection) == (plain.summary, plain.selection)
    assert plan.summary != ready.summary


@pytest.mark.parametrize(
    "changes", [{"focus": "the theme"}, {"summary": "My own words."}, {"layer": "full"}]
)
async def test_other_wishes_are_not_met_by_it(
    changes: dict[str, object], session: Session, places: Places
) -> None:
    known = session.grow_to(0.80)
    ready = await prepared(known, places)
    assert ready is not None
    assert (await asked_for(known, places, **changes)).summary != ready.summary


async def test_a_pin_that_was_set_since_is_in_the_summary(session: Session, places: Places) -> None:
    known = session.grow_to(0.87)
    assert await prepared(known, places) is not None
    pin_text(known.session, "The launch is on 3 March.", places, by="editor")
    plan = await due(session.grow_to(0.88), places)
    assert "The launch is on 3 March." in plan.summary.text


async def test_what_became_a_secret_since_is_not_in_the_summary(
    session: Session, places: Places
) -> None:
    session.turn("Always use the word Xyzzy7Plugh3Quux as the magic word of the game.")
    ready = await prepared(session.grow_to(0.87), places)
    assert ready is not None
    assert "Xyzzy7Plugh3Quux" in ready.summary.text
    known = Places(
        cwd=places.cwd,
        home=places.home,
        env={"GAME_SECRET": "Xyzzy7Plugh3Quux"},
        state_folder=places.state_folder,
    )
    session.places = known
    plan = await due(session.grow_to(0.88), known)
    assert "Xyzzy7Plugh3Quux" not in plan.summary.text


async def test_what_is_kept_has_no_secrets(session: Session, places: Places) -> None:
    secret = SAMPLES["anthropic"].secret
    session.turn(f"Always deploy with the key {secret} and nothing else.")
    config = msgspec.structs.replace(CONFIG, pins=(f"Pinned: {secret}",))
    known = session.grow_to(0.87, config)
    assert await prepared(known, places, config=config) is not None
    data = PREPARED_FILE.path(known.session.state_key, places).read_bytes()
    assert b"Always deploy with the key" in data
    assert b"Pinned: " in data
    assert secret.encode() not in data


async def test_other_messages_are_not_those_that_it_stands_for(
    session: Session, places: Places
) -> None:
    ready = await prepared(session.grow_to(0.87), places)
    assert ready is not None
    session.pi.lines[2] = session.pi.lines[2].replace(b"number 0", b"number 9")
    plan = await due(session.grow_to(0.88), places)
    assert plan.summary != ready.summary


async def test_a_model_is_asked_twice_at_most_and_never_when_it_is_due(
    session: Session, places: Places
) -> None:
    async with serving(REPLY) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        n_asked: list[int] = []
        for share in (0.74, 0.76, 0.78, 0.80, 0.82, 0.84, 0.86, 0.87):
            await prepared(session.grow_to(share), places, model)
            n_asked.append(len(server.asked))
        plan = await due(session.grow_to(0.88), places, model)
        assert len(server.asked) == n_asked[-1]
    assert n_asked[:4] == [0, 1, 1, 1]
    assert n_asked[-1] == 2
    assert plan.summary.author == "custom/m"
    most = PROTECTED + MORE_KEPT_RATIO * WINDOW
    assert plan.selection.cut.n_tokens_kept <= most


async def test_a_command_does_not_ask_a_model_for_what_is_there(
    session: Session, places: Places
) -> None:
    async with serving(REPLY) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        ready = await prepared(session.grow_to(0.76), places, model)
        known = session.grow_to(0.80)
        assert ready is not None
        assert (await asked_for(known, places, model)).summary.text == ready.summary.text
        preview = await make_preview(known, None, None, CONFIG, places, model, {})
        assert isinstance(preview, CompactionPreview)
        assert len(server.asked) == 1
        plan = await plan_proposed(preview, None, CONFIG, places, model, count)
        assert isinstance(plan, Plan)
        assert len(plan.selection.replaced) == preview.note.n_replaced == ready.n_replaced
        assert len(server.asked) == 1
        anew = await make_preview(known, None, None, CONFIG, places, model, {}, is_anew=True)
        assert isinstance(anew, CompactionPreview)
        assert len(server.asked) == 2


async def test_two_windows_with_other_authors_do_not_write_in_turn(
    session: Session, places: Places
) -> None:
    async with serving(REPLY) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        n_prepared = 0
        for share in (0.76, 0.78, 0.80, 0.82):
            known = session.grow_to(share)
            for author in (model, ModelUse()):
                n_prepared += await prepared(known, places, author) is not None
        assert (n_prepared, len(server.asked)) == (1, 1)


async def test_windows_with_other_pins_ask_no_more_than_one_does(
    session: Session, places: Places
) -> None:
    other = msgspec.structs.replace(CONFIG, pins=("The launch is on 3 March.",))
    async with serving(REPLY) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        for share in (0.76, 0.78, 0.80, 0.82, 0.84):
            for config in (CONFIG, other):
                await prepared(session.grow_to(share, config), places, model, config)
        assert len(server.asked) == MAX_ASKED


async def test_it_goes_when_the_agent_compacted_by_itself(session: Session, places: Places) -> None:
    known = session.grow_to(0.80)
    assert await prepared(known, places) is not None
    path = PREPARED_FILE.path(known.session.state_key, places)
    forget_spent(known, places)
    assert path.exists()
    first_kept = str(known.context.items[-2].entry_id)
    session.pi.compaction("By the agent.", first_kept)
    session.path.write_bytes(session.pi.data)
    forget_spent(loaded(session.path, places, CONFIG), places)
    assert not path.exists()


async def test_a_stronger_layer_has_a_summary_of_its_own(session: Session, places: Places) -> None:
    async with serving(REPLY) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        assert await prepared(session.grow_to(0.80), places, model) is not None
        plan = await asked_for(session.grow_to(0.80), places, model, layer="full")
        assert len(server.asked) == 2
    assert plan.selection.cut.n_tokens_kept <= 750


async def test_where_a_model_is_wished_our_own_rules_do_not_stand_for_it(
    session: Session, places: Places
) -> None:
    assert await prepared(session.grow_to(0.87), places) is not None
    async with serving(REPLY) as server:
        plan = await due(session.grow_to(0.88), places, ModelUse(endpoint=endpoint_of(server)))
        assert (plan.summary.author, len(server.asked)) == ("custom/m", 1)
    problem = ModelUse(problem="custom/m was not used: there is no key")
    plan = await due(session.grow_to(0.88), places, problem)
    assert "there is no key" in plan.summary.warnings[0]


async def test_a_model_that_fails_is_not_asked_at_each_quiet_moment(
    session: Session, places: Places
) -> None:
    async with serving(error_reply(401)) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        failed = await prepared(session.grow_to(0.79), places, model)
        assert failed is not None
        assert failed.summary.author == EXTRACTIVE
        n_asked = len(server.asked)
        for share in (0.80, 0.82, 0.84):
            assert await prepared(session.grow_to(share), places, model) is None
        assert len(server.asked) == n_asked
    async with serving(REPLY) as server:
        plan = await due(session.grow_to(0.88), places, ModelUse(endpoint=endpoint_of(server)))
        assert plan.summary.author == "custom/m"


async def test_what_goes_to_the_daily_log_is_prepared_with_it(
    session: Session, places: Places
) -> None:
    (places.cwd / "memory").mkdir()
    remembered = text_reply("**Important Decisions:**\n- The theme of the shop stays blue\n")

    def reply(asked: Asked) -> Reply:
        return remembered if "memory/" in asked.prompt else REPLY

    async with served(ModelServer(reply)) as server:
        model = ModelUse(endpoint=endpoint_of(server))
        assert await prepared(session.grow_to(0.84), places, model) is not None
        assert len(server.asked) == 2
        plan = await due(session.grow_to(0.88), places, model)
        assert len(server.asked) == 2
    make_auto(plan, CONFIG, places)
    (log,) = (places.cwd / "memory").glob("*.md")
    assert log.read_text("utf-8").count("- The theme of the shop stays blue") == 1


async def test_nothing_is_prepared_where_nothing_will_be_done(
    session: Session, places: Places
) -> None:
    known = session.grow_to(0.80)
    policies = ({"is_auto_enabled": False}, {"max_auto_compactions": 0})
    for changes in policies:
        policy = msgspec.structs.replace(CONFIG.policy, **changes)
        config = msgspec.structs.replace(CONFIG, policy=policy)
        assert await prepared(session.grow_to(0.80, config), places, config=config) is None
    decline(known, "summarize", places)
    assert await prepared(known, places) is None


async def test_nothing_is_prepared_where_a_prune_will_do(session: Session, places: Places) -> None:
    for number in range(12):
        session.pi.assistant(calls=[(f"c{number}", "read", {"path": f"{number}.py"})], usage=None)
        session.pi.result(f"c{number}", f"{number} " * 1_000, name="read")
    policy = msgspec.structs.replace(
        CONFIG.policy,
        is_prune_enabled=True,
        prune_protect_tokens=1_000,
        prune_minimum_tokens=1_000,
        prune_tool_tokens=4_000,
    )
    config = msgspec.structs.replace(CONFIG, policy=policy)
    known = session.grow_to(0.78, config)
    assert await prepared(known, places, config=config) is None
    assert await prepared(session.grow_to(0.78), places) is not None


async def test_what_was_prepared_is_forgotten_or_damaged_and_nothing_is_lost(
    session: Session, places: Places
) -> None:
    known = session.grow_to(0.87)
    assert await prepared(known, places) is not None
    path = PREPARED_FILE.path(known.session.state_key, places)
    path.write_bytes(path.read_bytes()[:100])
    assert isinstance(await due(session.grow_to(0.88), places), Plan)
    keep = await prepared(known, places)
    assert keep is not None
    PREPARED_FILE.remove(known.session.state_key, places)
    PREPARED_FILE.remove(known.session.state_key, places)
    assert not path.exists()
