"""Coverage, width and false alarms of the intervals and tests in `statistics/` where texts belong together.

    python benchmarks/intervals.py [DRAWS] [TABLE ...]

What is reported comes from seeds that no method was chosen on (`interval_draws.REPORTING`). Below each table
stand its worst cell with the exact 95 % interval of that share, which is the error of the simulation, and all
cells together.
"""

import sys
from collections.abc import Callable, Sequence

import interval_coverage
import interval_tests
from interval_draws import Row, Rows, Share
from timing import machine, table

COVERAGE: dict[str, Callable[[int], Rows]] = {
    "rates": interval_coverage.rates,
    "prolific": interval_coverage.prolific,
    "copies": interval_coverage.copies,
    "ranking": interval_coverage.ranking,
    "labels": interval_coverage.labels,
    "raters": interval_coverage.raters,
    "correlations": interval_coverage.correlations,
    "several": interval_tests.several,
}
ALARMS: dict[str, Callable[[int], Rows]] = {
    "groups": interval_tests.groups,
    "distances": interval_tests.distances,
    "topics": interval_tests.topics,
    "calibrated": interval_tests.calibrated,
    "useless": interval_tests.useless,
    "gates": interval_tests.gates,
    "constant": interval_tests.constant,
}


def summary(rows: Sequence[Row], *, lowest: bool) -> str:
    """The worst cell and all cells together, with the errors of the simulation."""
    shares = [cell for row in rows for cell in row if isinstance(cell, Share) and cell.draws]
    if not shares:
        return ""
    ordered = sorted(shares, key=lambda share: share.percent)
    worst = ordered[0] if lowest else ordered[-1]
    together = Share(sum(share.hits for share in shares), sum(share.draws for share in shares))
    return (
        f"\n\n{_with_error('lowest' if lowest else 'highest', worst)}; {_with_error('all cells', together)}"
    )


def _with_error(name: str, share: Share) -> str:
    """A share in percent with its interval and the number of draws."""
    low, high = share.interval()
    return f"{name} {share.percent:.1f} % ({low:.1f}–{high:.1f}; {share.draws:,} draws)"


def main(draws: int, names: Sequence[str]) -> None:
    """Print the tables that are named, or all."""
    print(f"{machine()}; {draws} draws each\n")
    tables = COVERAGE | ALARMS
    for name in names or tables:
        head, *rows = tables[name](draws)
        worst = summary(rows, lowest=name in COVERAGE)
        cells = table([str(cell) for cell in head], rows)
        print(f"**{name}**: {tables[name].__doc__}\n\n{cells}{worst}\n", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2:])
