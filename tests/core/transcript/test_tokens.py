"""The estimate of tokens is near tiktoken's count, whatever a text is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.transcript.tokens import estimate_tokens
from ullage.store.gauge.tokenizer import count_tokens


@pytest.mark.parametrize(
    "text",
    [
        "The importer reads the supplier's file twice a day and writes what it could not parse"
        " into a quarantine table. We decided to keep the sessions in memory, because the"
        " database is saturated at weekends.",
        "Bitte ändere nichts an der Schnittstelle, solange die Freigabe der Revision aussteht. Der"
        " Fehler trat nur auf, wenn zwei Vorgänge gleichzeitig dieselbe Rechnung bearbeiteten.",
        "所有金额必须用整数分存储，不要用浮点数。网关那边说太短了，超时改成三十五秒，下一步做对账报表。",
        "Передумали: глубина истории тридцать месяцев, аудит просит. Осталось письмо.",
        "- server/ullage/core/checkpoint_text.py\n- tests/store/test_checkpoint_yaml.py\n"
        "- vscode-extension/src/model/status.ts\n- docs/agent-protocol.md\n"
        "- server/ullage/formats/claude_code/conversation.py\n- C:\\Users\\me\\app\\Main.cs\n"
        "- /home/user/work/shop/src/api/routes/tracking.py\n- server/ullage/core/supersede.py\n",
        "def read(path: Path) -> list[str]:\n    with path.open() as file:\n"
        "        return [line.strip() for line in file if line]\n",
        "session 7b1e3c52-90ab-4d1f-8a37-5c2e9d40f6b8 commit 3f9c2ab7d1 ticket OPS-4417 port 8443",
    ],
    ids=["English", "German", "Chinese", "Russian", "paths", "code", "ids"],
)
def test_an_estimate_is_within_a_sixth(text: str) -> None:
    assert estimate_tokens(text) == pytest.approx(count_tokens(text), rel=1 / 6)


@given(st.text())
def test_any_text_has_an_estimate(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= 3 * len(text)
    assert (estimate_tokens(text) == 0) <= (not text.strip())
