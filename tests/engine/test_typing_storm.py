"""Users, editors and models doing anything at any moment: no key is lost, and everything is answered."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.fake_modes import MODES
from tests.support.storm_machine import StormMachine

EXAMPLES = 2000 // len(MODES)
STEPS = 25


@pytest.mark.parametrize("mode", MODES)
def test_no_key_is_lost_in_any_interleaving(mode: str) -> None:
    machine = type("Machine", (StormMachine,), {"mode": mode, "counts": Counter()})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
