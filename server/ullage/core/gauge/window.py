"""The window: how many tokens may be sent, who says so, and what disproves it."""

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from ullage.core.config.agent_settings import NumberSetting
from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS, Config
from ullage.core.gauge.agent_figures import ToldWindow
from ullage.core.transcript.context import Context

WindowSource: TypeAlias = Literal[
    "setting", "agent", "configuration", "model table", "disproved", "default"
]
_LARGE_SUFFIX: Final = "[1m]"
"""What Claude Code puts behind a model whose larger window its user chose."""
LARGE_TOKENS = 1_000_000
"""That window; and what is taken where nobody publishes one that is large enough."""
RECORDED_RATIO = 0.95
"""As much of the whole window as Codex records of it; a request may hold more than that."""
_DOUBTS: dict[str, str] = {
    "default": "how large the window is, is not known",
    "disproved": "the window turned out to be larger than known",
}
_VENDORS = (
    "ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia"
    "|openai|qwen|writer|zai"
)
_BEDROCK = re.compile(rf"^(?:(?:us|us-gov|eu|apac|au|ca|jp|global)\.)?(?:{_VENDORS})\.")
_VARIANT = re.compile(r"(?:@.*|:(?:\d+|free|beta|extended|thinking|exacto|nitro|floor|online))$")
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")
_CLAUDE_VERSION = re.compile(r"-v\d+$")


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model as an agent, or most of the catalogues, publish it."""

    name: str
    """`AGENT/MODEL`, `AGENT/PROVIDER/MODEL`, or `*/MODEL` where most say so."""
    window_tokens: int
    """What may be sent: the input alone, where a catalogue tells it from the sum of both."""
    larger: tuple[int, ...] = ()
    """Larger windows that are published for the same model, ascending."""
    prices: tuple[float | None, ...] = ()
    """USD for a million tokens: input, output, cache read, cache write for 5 minutes and 1 hour."""
    source: str
    """A package with its version, how many others say the same, and the day they were fetched."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    n_tokens: int
    source: WindowSource
    detail: str
    """The setting, the record or the row that the figure comes from."""

    @property
    def is_certain(self) -> bool:
        """Whether an agent may be told to stop by it: not by a guess, nor by a figure that its
        own session has disproved."""
        return not self.doubt

    @property
    def doubt(self) -> str:
        """Say what is wrong with the figure; empty where nothing is."""
        return _DOUBTS.get(self.source, "")


DEFAULT_WINDOW = Window(
    n_tokens=DEFAULT_WINDOW_TOKENS,
    source="default",
    detail="no source names this model; set ULLAGE_CONTEXT_WINDOW or --window",
)


def resolve_window(
    context: Context,
    config: Config,
    configured: NumberSetting | None,
    row: ModelRow | None,
    told: ToldWindow | None = None,
) -> Window:
    """Tell the window of a context's model, and who says so (docs/design/gauge.md, "Window").

    The user's setting; what the session records; what the agent told while it ran (`told`); what
    its own configuration says (`configured`); the model table (`row`); the default. One that a
    request did not fit in is replaced, but for the user's own: that may be meant to be smaller than
    the model's.
    """
    n_tokens = config.window_for(context.model)
    if n_tokens is not None:
        detail = f"your setting {config.window_name(context.model)}".rstrip()
        return Window(n_tokens=n_tokens, source="setting", detail=detail)
    window = _recorded_window(context, told)
    if window is None and configured is not None and configured.value >= 1:
        n_tokens, detail = int(configured.value), configured.origin
        window = Window(n_tokens=n_tokens, source="configuration", detail=detail)
    if window is None and row is not None:
        window = Window(n_tokens=row.window_tokens, source="model table", detail=row.source)
    larger = () if row is None else row.larger
    return check_window(window or DEFAULT_WINDOW, largest_request(context), larger)


def _recorded_window(context: Context, told: ToldWindow | None) -> Window | None:
    if context.window_tokens is not None:
        detail = "the agent's own record"
        return Window(n_tokens=context.window_tokens, source="agent", detail=detail)
    if told is not None and context.model is not None and is_same_model(told.model, context.model):
        detail = "what the agent told its status line"
        return Window(n_tokens=told.n_tokens, source="agent", detail=detail)
    if context.model is not None and has_large_window(context.model):
        detail = f"the agent's own record of {context.model}"
        return Window(n_tokens=LARGE_TOKENS, source="agent", detail=detail)
    return None


def strip_model(name: str) -> str:
    """Give what catalogues call a model, whoever provides it.

    `us.anthropic.claude-opus-4-6-v1:0`, `anthropic/claude-opus-4.6`, `claude-opus-4-6@20260101` and
    `claude-opus-4-6[1m]` are one model. Another number is another model: nothing else is cut off.
    """
    name = name.lower().removesuffix(_LARGE_SUFFIX).rpartition("/")[2]
    name = _VARIANT.sub("", _BEDROCK.sub("", name))
    if name.startswith("claude"):
        name = _CLAUDE_VERSION.sub("", name).replace(".", "-")
    return _DATE.sub("", name)


def is_same_model(name: str, other: str) -> bool:
    """Whether two names differ in provider, date or the window that was chosen, if at all."""
    return name == other or strip_model(name) == strip_model(other)


def has_large_window(name: str) -> bool:
    """Whether a model's name says that its user chose the larger window."""
    return name.lower().endswith(_LARGE_SUFFIX)


def largest_request(context: Context) -> int:
    """Give the most tokens that the session's model was sent at once, as reported; 0 for unknown.

    An answer is no part of its request: it may be larger than the window allows.
    """
    model = context.model or ""
    largest = {model: context.n_sent_before}
    for item in context.items:
        usage = item.message.usage
        if usage is not None:
            name, n_sent = item.message.model or model, usage.n_sent
            if n_sent > largest.get(name, 0):
                largest[name] = n_sent
    return max(n_sent for name, n_sent in largest.items() if is_same_model(name, model))


def check_window(window: Window, n_sent: int, larger: Sequence[int]) -> Window:
    """Replace a window that a request did not fit in by the next larger one that is published."""
    n_most = window.n_tokens
    if window.source == "agent":
        n_most = int(n_most / RECORDED_RATIO)
    if n_sent <= n_most:
        return window
    n_tokens = next((n for n in larger if n >= n_sent), max(LARGE_TOKENS, n_sent))
    detail = f"{n_sent:,} tokens were sent, more than {window.n_tokens:,} by {window.source}"
    return Window(n_tokens=n_tokens, source="disproved", detail=f"{detail} ({window.detail})")
