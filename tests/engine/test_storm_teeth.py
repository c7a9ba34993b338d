"""The typing storm finds every fault that is planted, within the examples that it has in every test run."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine.test_typing_storm import EXAMPLES, STEPS
from tests.support.fake_modes import MODES
from tests.support.faults import FAULTS
from tests.support.storm_machine import StormMachine


def is_found(mode: str) -> bool:
    """True when the storm stops at the fault in this mode."""
    machine = type("Machine", (StormMachine,), {"mode": mode, "counts": Counter()})
    try:
        run_state_machine_as_test(  # type: ignore[no-untyped-call]
            machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                phases=[Phase.generate],
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
                derandomize=True,
            ),
        )
    except (AssertionError, IndexError):  # The latter from a place that the document does not have.
        return True
    return False


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    with FAULTS[fault]():
        assert any(is_found(mode) for mode in MODES), f"the storm does not see: {fault}"
