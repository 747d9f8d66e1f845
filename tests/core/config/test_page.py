"""The page about the configuration says what the code declares, and its example is right."""

import re
import runpy
from pathlib import Path

from ullage.core.config.read import read_source
from ullage.core.config.settings import config_of
from ullage.store.config.files import parse_config

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/configuration.md").read_text("utf-8")


def test_the_page_is_the_one_of_the_code() -> None:
    made = runpy.run_path(str(ROOT / "tools/make_config_page.py"))["page"]()
    assert made == PAGE, "run tools/make_config_page.py"


def test_its_example_has_no_findings_and_does_what_it_says() -> None:
    example = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
    source = parse_config("user file", "config.yaml", example.encode())
    settings, findings = read_source(source, is_trusted=False)
    assert findings == []
    config = config_of(tuple(settings))
    assert config.policy.summarize_ratio == 0.85
    assert config.policy_for("openai/gpt-4.1", 1_000_000).summarize_ratio == 0.8
    assert config.pins == ("Never touch the production database.",)
