"""What a preview proposes, also where two windows make one at the same time."""

import asyncio
import threading
from pathlib import Path

from pi_files import conversation
from planning import loaded
from ullage.app.change.compact import Plan, Request, plan_compaction
from ullage.app.change.preview import CompactionPreview, find_preview, make_preview
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.config.settings import Config, Policy
from ullage.core.gauge.gauge import Layer
from ullage.core.summary.preview import read_proposal
from ullage.store.documents.previews import preview_id_of
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

CONFIG = Config(policy=Policy(summarize_protect_tokens=3000, full_protect_tokens=300))


def test_without_a_layer_it_is_what_the_command_line_makes(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(conversation(40, chars=600, usage=195_000, cwd=str(tmp_path)).data)
    make_idle(path)
    known = loaded(path, places, CONFIG)
    previewed = asyncio.run(make_preview(known, None, None, CONFIG, places, ModelUse(), {}))
    planned = asyncio.run(plan_compaction(known, Request(), CONFIG, places, ModelUse()))
    assert isinstance(previewed, CompactionPreview)
    assert isinstance(planned, Plan)
    assert previewed.note.layer == "summarize"
    assert previewed.note.n_tokens_after == planned.n_tokens_after


def test_its_files_are_all_of_one_of_them(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(conversation(40, chars=600, usage=150_000, cwd=str(tmp_path)).data)
    make_idle(path)
    barrier = threading.Barrier(2)
    for _ in range(10):
        made: list[CompactionPreview | NoCompaction] = []

        def make(layer: Layer, made: list[CompactionPreview | NoCompaction] = made) -> None:
            known = loaded(path, places, CONFIG)
            barrier.wait()
            work = make_preview(known, layer, layer, CONFIG, places, ModelUse(), {}, is_anew=True)
            made.append(asyncio.run(work))

        threads = [threading.Thread(target=make, args=(layer,)) for layer in ("summarize", "full")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = find_preview(preview_id_of(path), places)
        proposed = read_proposal(found.proposed_path.read_text("utf-8"))
        assert (proposed.marker, proposed.is_edited) == (found.note.marker, False)
        assert found.note.marker in found.before_path.read_text("utf-8")
        assert not found.proposed_path.with_name("proposed.1.md").exists()
        assert len(made) == 2
