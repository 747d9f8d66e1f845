"""What commands share."""

from ullage.cli.options import run_to_end


class Plan:
    is_written = False

    def __repr__(self) -> str:
        Plan.is_written = True
        return "a plan"


def test_a_result_is_given_back_and_never_made_a_text() -> None:
    async def plan() -> Plan:
        return made

    made = Plan()
    assert run_to_end(plan()) is made
    assert not Plan.is_written
