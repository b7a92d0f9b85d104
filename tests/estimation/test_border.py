"""Where a growing quantity crosses its limit: the search's answer is that of trying every number."""

import random
from collections.abc import Callable

import pytest

from calculator.estimation.border import MOST_KEPT, Border, Excess


def needed(slope: float, block: int, wide: float, room: float) -> Callable[[int, int], Excess]:
    """Excess of memory that is dealt in blocks, steeper with each 1,000, against `room`; the high end lies higher."""

    def excess(place: int, value: int) -> Excess:
        dealt = place * slope * (-(-value // block) * block) * (1 + value // 1000 / 10)
        return dealt - room, dealt * wide - room + 5

    return excess


def by_trying(bound: int, excess: Callable[[int], Excess]) -> tuple[int, ...]:
    return tuple(
        max((value for value in range(1, bound + 1) if excess(value)[which] <= 0), default=0)
        for which in (0, 1)
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_border_is_that_of_trying_every_number(seed: int) -> None:
    chance = random.Random(seed)
    block, bound = chance.choice((1, 16, 100, 256)), chance.choice((1, 40, 3000))
    excess = needed(chance.uniform(0.5, 2), block, chance.uniform(1, 1.3), chance.uniform(0, 40_000))
    border = Border(lambda: chance.choice((1, block)))
    for place in chance.choices(range(1, 40), k=30):
        found = border.at(place, bound, lambda value, place=place: excess(place, value))
        assert found == by_trying(bound, lambda value, place=place: excess(place, value))


def test_a_place_is_searched_once_and_its_neighbours_shorten_the_search() -> None:
    excess, asked = needed(1, 1, 1.1, 90_000), []

    def at(place: int) -> tuple[int, int]:
        def counted(value: int) -> Excess:
            asked.append(value)
            return excess(place, value)

        return border.at(place, 100_000, counted)

    border = Border(lambda: 1)
    low, high = at(3), at(5)
    asked.clear()
    assert at(3) == low
    assert asked == []
    middle = at(4)
    assert all(high[1] <= value <= low[0] for value in asked)
    assert high[0] <= middle[0] <= low[0]


def test_the_places_that_are_kept_are_bounded() -> None:
    border = Border(lambda: 1)
    for place in range(1, MOST_KEPT + 20):
        border.at(place, 10, lambda value: (value - 5.0, value - 3.0))
        assert len(border.places) == len(border.sorted) <= MOST_KEPT
