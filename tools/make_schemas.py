"""Write the JSON Schemas of all outputs into the package; a test compares them with the code."""

import json
from pathlib import Path

from ullage.app.schemas import REPORTS, schema_of

FOLDER = Path(__file__).parent.parent / "server/ullage/data/schemas"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, report in REPORTS:
        text = json.dumps(schema_of(report), indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
