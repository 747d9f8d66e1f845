"""JSON by the functions in C alone, for a hook: `json` imports `re`, which is half of a bare start.

CPython keeps them to itself. Where they are not there or want something else, `json` does it.
"""

TYPE_CHECKING = False  # `typing` takes as long as the whole hook
if TYPE_CHECKING:
    from typing import TypeGuard


class _Plain:
    """How `json.loads` reads by default."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


try:
    from _json import encode_basestring, make_scanner

    _scan = make_scanner(_Plain)  # pyright: ignore[reportArgumentType] only its attributes are asked for
except (ImportError, TypeError, AttributeError):
    from json import JSONDecoder, JSONEncoder

    _scan = JSONDecoder().raw_decode
    encode_basestring = JSONEncoder(ensure_ascii=False).encode
_SPACE = " \t\n\r"


def parse_json(text: str) -> object:
    """Read a value.

    Raises:
        ValueError: the text is not JSON, or there is something behind it.
    """
    text = text.strip(_SPACE)
    try:
        scanned: tuple[object, int] = _scan(text, 0)
    except (StopIteration, SystemError):
        # The latter is how the scanner fails while nobody has imported `json.decoder`.
        raise ValueError("no JSON") from None
    value, end = scanned
    if end != len(text):
        raise ValueError("more than JSON")
    return value


def write_json(value: object) -> str:
    """Write a value of texts, whole numbers, booleans, lists and objects, as msgspec does.

    Raises:
        ValueError: there is another kind of value in it.
    """
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if is_list(value):
        return f"[{','.join(map(write_json, value))}]"
    if is_object(value):
        members = (f"{write_json(key)}:{write_json(member)}" for key, member in value.items())
        return f"{{{','.join(members)}}}"
    raise ValueError(f"no JSON of {type(value).__name__}")


def is_object(value: object) -> "TypeGuard[dict[str, object]]":
    return isinstance(value, dict)


def is_list(value: object) -> "TypeGuard[list[object]]":
    return isinstance(value, list)
