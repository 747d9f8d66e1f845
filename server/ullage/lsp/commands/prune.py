"""`ullage.prune`: put placeholders in the place of old tool output, once the user agreed."""

import asyncio

from ullage.app.change.prune import PruneRequest, Pruning, Unpruned, plan_pruning, prune
from ullage.core.gauge.gauge import short_tokens
from ullage.errors import WriteNotSupported
from ullage.lsp.commands.progress import cancelled, confirm, nothing_to_do
from ullage.lsp.convert import session_ref
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.protocol import Outcome, PruneArgument
from ullage.lsp.state import UllageServer

BUTTON = "Prune"


async def run_prune(ls: UllageServer, argument: PruneArgument) -> Outcome:
    loaded = await load_session(ls, argument.session)
    request = PruneRequest(
        chosen=None if argument.items is None else tuple(argument.items),
        is_everything=argument.isEverything,
    )
    plan = await asyncio.to_thread(plan_pruning, loaded, request)
    if isinstance(plan, Unpruned):
        return nothing_to_do(plan.reason)
    if plan.change is None:
        raise WriteNotSupported(plan.refusal or "")
    if not argument.isConfirmed and not await confirm(
        ls, _question(plan), BUTTON, "prune", loaded.path
    ):
        return cancelled("Pruning cancelled.")
    made = await asyncio.to_thread(prune, plan, ls.config, ls.places)
    await show_changed(ls, loaded.path, made.loaded.path)
    before, after = short_tokens(plan.n_tokens_before), short_tokens(plan.n_tokens_after)
    where = " into a new session" if made.is_elsewhere else ""
    return Outcome(
        outcome="done",
        message=f"Pruned {_outputs(plan)}{where} · {before} → {after} tokens",
        session=session_ref(made.loaded),
        canUndo=True,
        resume=made.resume_command if made.is_elsewhere else None,
    )


def _question(plan: Pruning) -> str:
    return (
        f"Prune this session? Placeholders take the place of {_outputs(plan)}:"
        f" {plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens. It can be undone."
    )


def _outputs(plan: Pruning) -> str:
    n_outputs = len(plan.plan.replacements)
    return "1 output" if n_outputs == 1 else f"{n_outputs:,} outputs"
