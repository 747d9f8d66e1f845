"""How much a property is tried: a little in every run, at length in the profile `long`.

`ULLAGE_HYPOTHESIS=long` or `--hypothesis-profile=long` chooses the latter, which draws other
examples each time; the usual ones are the same for everybody, so that no run fails by chance.
"""

import os

from hypothesis import HealthCheck, settings

N_USUAL = 25
USUAL_SHARE = 20
"""A simulation that is counted in thousands is tried with a twentieth."""

USUAL, LONG = "usual", "long"


def choose_profile() -> None:
    """Let no example fail for being slow; the folder of a test may serve all of its examples."""
    allowed = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
    common = settings(deadline=None, suppress_health_check=allowed)
    settings.register_profile(USUAL, common, max_examples=N_USUAL, derandomize=True)
    settings.register_profile(LONG, common, max_examples=100, print_blob=True)
    settings.load_profile(os.environ.get("ULLAGE_HYPOTHESIS", USUAL))


def examples(n_long: int) -> int:
    """Give how many examples are tried where `n_long` are in the long profile.

    Call it when a test module is read: the command line has chosen the profile by then.
    """
    is_long = settings.get_current_profile_name() == LONG
    return n_long if is_long else min(n_long, max(N_USUAL, n_long // USUAL_SHARE))
