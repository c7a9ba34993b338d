"""How often a storm of users, editors and models reached what, over as many examples as asked.

    scripts/bench storm --examples 1000000 --mode vscode

Stops at the first example in which an invariant does not hold, and prints its steps.
"""

import argparse
from collections import Counter
from time import perf_counter

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.fake_modes import MODES
from tests.support.storm_machine import StormMachine

BATCH = 2000  # Hypothesis remembers every example of a run.


def run(mode: str, examples: int, steps: int) -> Counter[str]:
    """Run the storm in one mode; what was reached, by name."""
    counts: Counter[str] = Counter()
    machine = type("Machine", (StormMachine,), {"mode": mode, "counts": counts})
    for start in range(0, examples, BATCH):
        run_state_machine_as_test(  # type: ignore[no-untyped-call]
            machine,
            settings=settings(
                max_examples=min(BATCH, examples - start),
                stateful_step_count=steps,
                deadline=None,
                database=None,
                print_blob=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--examples", type=int, default=800, help="in all modes together")
    parser.add_argument("--steps", type=int, default=25, help="the most of one example")
    parser.add_argument("--mode", choices=list(MODES), action="append", help="one client; repeatable")
    arguments = parser.parse_args()
    modes = arguments.mode or list(MODES)
    started = perf_counter()
    reached = {mode: run(mode, -(-arguments.examples // len(modes)), arguments.steps) for mode in modes}
    names = sorted(set().union(*reached.values()))
    print(f"{'':24}" + "".join(f"{mode:>11}" for mode in modes))
    for name in names:
        print(f"{name:24}" + "".join(f"{reached[mode][name]:>11,}" for mode in modes))
    print(f"no key lost in {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
