"""Write the JSON Schemas of all outputs into the package; a test compares them with the code."""

import json
from pathlib import Path

from ullage.agent.schemas import file_name, method_schemas
from ullage.app.schemas import REPORTS, schema_of

FOLDER = Path(__file__).parent.parent / "server/ullage/data/schemas"


def main() -> None:
    (FOLDER / "agent").mkdir(parents=True, exist_ok=True)
    for name, report in REPORTS:
        write(f"{name}.schema.json", schema_of(report))
    for method, schema in method_schemas().items():
        write(f"agent/{file_name(method)}", schema)


def write(name: str, schema: dict[str, object]) -> None:
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    (FOLDER / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
