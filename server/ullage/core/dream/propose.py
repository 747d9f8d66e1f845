"""What a dream proposes: of all that was said, at most ten statements that last.

Only what a person typed or an agent found is looked at; what tools, web pages and memory itself
said is never proposed (docs/design/memory.md, "Who may be believed"). What is known or was rejected
does not come again. Of several statements on one subject the newest stands for the others, but an
agent's never for a person's.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice

import msgspec

from ullage.core.dream.lasting import Judgment, judge
from ullage.core.dream.score import Support, score
from ullage.core.dream.subjects import MIN_RATIO, Subjects
from ullage.core.memory.journal import RecallCount
from ullage.core.memory.likeness import KnownTexts, Likeness
from ullage.core.memory.origin import Origin
from ullage.core.text.identifiers import find_identifiers

MAX_PROPOSALS = 10
"""Of one dream; none is normal (docs/design/memory.md, "Dreaming")."""
MIN_PROBABILITY = 0.3
"""That a point of a log lasts (`benchmarks/memory/lasting.py` prints what it costs)."""
MIN_AGENT_PROBABILITY = 0.5
"""Of an agent's (chosen: recorded sessions have hardly anything worth keeping below it)."""
MIN_SESSION_PROBABILITY = 0.1
"""Of what was said in a session, which has to say itself that it goes on (chosen)."""


MAX_COMPARED = 300
"""Of what lasts, the likeliest, as each is compared with each; a week of work has some fifty
(chosen)."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was said, on one line, without secrets."""

    text: str
    origin: Origin
    day: str
    """`YYYY-MM-DD`, local."""
    place: str
    """Where it stands, in words: `memory/2026-10-01.md#L17`, or a session and its line."""
    is_picked: bool = True
    """Whether it is a point of a log, that somebody wrote down; not so where it was only said."""
    chunk: str = ""
    """Digest of the piece of memory that holds it, by which its recalls are known."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that is proposed for `MEMORY.md`."""

    statement: Statement
    judgment: Judgment
    said: tuple[Statement, ...]
    """All that say nearly the same, the newest first; it is one of them."""
    replaces: tuple[str, ...]
    """What it stands for: lines of `MEMORY.md`, items that wait, and earlier statements."""
    support: Support
    score: float


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal must not say again."""

    standing: dict[str, Origin] = {}
    """The points of `MEMORY.md` and the items that wait, each on one line."""
    said_on: dict[str, str] = {}
    """The days of those that wait, `YYYY-MM-DD`: what is said in an older session is no news."""
    superseded: dict[str, str] = {}
    """What was replaced, with the day: a person who says it again later, goes back to it."""
    others: tuple[str, ...] = ()
    """What was rejected or is said by what stands, and what agents are told from elsewhere."""


def propose(
    statements: Iterable[Statement],
    *,
    known: Known,
    today: date,
    recalls: Iterable[RecallCount] = (),
    limit: int = MAX_PROPOSALS,
) -> tuple[Proposal, ...]:
    """Propose what lasts, the best first.

    What is known does not come again; a newer statement may stand for what stands.
    """
    statements = list(statements)
    standing, said_on = known.standing, known.said_on
    lasting = _join_alike(_judge_all(statements))
    if not lasting:
        return ()
    subjects = Subjects((*(statement.text for statement in statements), *standing))
    by_chunk: dict[str, list[RecallCount]] = {}
    for count in recalls:
        by_chunk.setdefault(count.chunk, []).append(count)
    proposals = [
        _propose(group, older, by_chunk, today)
        for group, older in _stand_for_others(lasting, subjects)
    ]
    # By the text too, so that which come first hangs on no order of lines.
    best_first = sorted(proposals, key=lambda each: (-each.score, each.statement.text))
    known_texts = KnownTexts((*standing, *known.others))
    news = (
        each
        for each in best_first
        if not known_texts.say(each.statement.text)
        and not _is_superseded(each.statement, known.superseded)
        and not any(
            day > each.statement.day
            and (standing[line] == "user" or each.statement.origin == "agent")
            and subjects.are_same(each.statement.text, line)
            for line, day in said_on.items()
        )
    )
    return tuple(
        _replace_standing(each, standing, said_on, subjects) for each in islice(news, limit)
    )


def _is_superseded(statement: Statement, superseded: Mapping[str, str]) -> bool:
    alike = Likeness(statement.text)
    return any(
        (statement.origin != "user" or statement.day <= (day or statement.day))
        and alike.is_said_by(old)
        for old, day in superseded.items()
    )


class _Group(msgspec.Struct, frozen=True, kw_only=True):
    """Statements that say nearly the same, the newest first."""

    said: tuple[Statement, ...]
    judgment: Judgment

    @property
    def newest(self) -> Statement:
        return self.said[0]


def _judge_all(statements: Sequence[Statement]) -> list[tuple[Statement, Judgment]]:
    lasting: list[tuple[Statement, Judgment]] = []
    for statement in statements:
        if statement.origin in ("user", "agent"):
            judgment = judge(statement.text, is_agents=statement.origin == "agent")
            if judgment is not None and _may_last(statement, judgment):
                lasting.append((statement, judgment))
    lasting.sort(key=lambda pair: (-pair[1].probability, pair[0].text))
    return lasting[:MAX_COMPARED]


def _may_last(statement: Statement, judgment: Judgment) -> bool:
    if statement.is_picked:
        is_agents = statement.origin == "agent"
        return judgment.probability >= (MIN_AGENT_PROBABILITY if is_agents else MIN_PROBABILITY)
    # Of an agent's talk, code and findings about the work at hand read as facts do.
    is_persons = statement.origin == "user"
    return is_persons and judgment.is_standing and judgment.probability >= MIN_SESSION_PROBABILITY


def _join_alike(judged: Iterable[tuple[Statement, Judgment]]) -> list[_Group]:
    """Join near-duplicates. A person's words speak for the group, where there are some."""
    groups: list[_Group] = []
    alike: list[Likeness] = []
    newest_first = sorted(judged, key=lambda pair: (pair[0].origin == "user", pair[0].day))
    for statement, judgment in reversed(newest_first):
        said = Likeness(statement.text)
        at = next((at for at, newer in enumerate(alike) if said.repeats(newer)), None)
        if at is None:
            groups.append(_Group(said=(statement,), judgment=judgment))
            alike.append(said)
        else:
            group = groups[at]
            groups[at] = msgspec.structs.replace(group, said=(*group.said, statement))
    return groups


def _stand_for_others(
    groups: Sequence[_Group], subjects: Subjects
) -> list[tuple[_Group, list[_Group]]]:
    """Give the groups that stand, each with the earlier ones on its subject, the newest first."""
    standing: list[tuple[_Group, list[_Group]]] = []
    for group in sorted(groups, key=lambda group: group.newest.day, reverse=True):
        later = [
            (subjects.compare(group.newest.text, stands.newest.text), at)
            for at, (stands, _) in enumerate(standing)
            if stands.newest.day > group.newest.day and may_replace(stands.newest, group.newest)
        ]
        likeness, at = max(later, default=(0.0, 0))
        if likeness >= MIN_RATIO:
            standing[at][1].append(group)
        else:
            standing.append((group, []))
    return standing


def may_replace(later: Statement, earlier: Statement) -> bool:
    """Tell whether a statement has the authority to stand for another: never an agent's for a
    person's."""
    return later.origin == "user" or earlier.origin == "agent"


def _propose(
    group: _Group,
    older: Iterable[_Group],
    recalls: Mapping[str, Sequence[RecallCount]],
    today: date,
) -> Proposal:
    newest = group.newest
    support = Support(
        days=tuple(statement.day for statement in group.said),
        recalls=tuple(
            count
            for chunk in dict.fromkeys(statement.chunk for statement in group.said)
            for count in recalls.get(chunk, ())
        ),
        n_tags=len({name for _, name in find_identifiers(newest.text)}),
        probability=group.judgment.probability,
    )
    return Proposal(
        statement=newest,
        judgment=group.judgment,
        said=group.said,
        replaces=tuple(other.newest.text for other in older),
        support=support,
        score=score(support, today),
    )


def _replace_standing(
    proposal: Proposal,
    standing: Mapping[str, Origin],
    said_on: Mapping[str, str],
    subjects: Subjects,
) -> Proposal:
    """Have a proposal stand for lines of memory and items that wait too."""
    newest = proposal.statement
    replaced = (
        line
        for line, origin in standing.items()
        if (newest.origin == "user" or origin == "agent")
        # When a line of memory was written is not known: words of a session may be older.
        and (said_on.get(line, "") < newest.day if newest.is_picked or line in said_on else False)
        and subjects.are_same(newest.text, line)
    )
    replaces = tuple(dict.fromkeys((*replaced, *proposal.replaces)))
    return msgspec.structs.replace(proposal, replaces=replaces)
