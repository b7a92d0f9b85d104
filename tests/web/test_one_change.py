"""One change away on the page: what its links say and where they lead."""

import pytest

from tests.web.asking import page_of, plain

SEVENTY = "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"


def links(query, snapshot):
    return {change["title"]: change for change in page_of(query, snapshot)["one_change"]["changes"]}


def test_a_neighbour_that_fails_says_what_it_is_short_of(snapshot):
    found = links(SEVENTY, snapshot)["1 × GeForce RTX 3090 instead"]
    assert (found["code"], found["verdict"]) == ("does_not_fit", "Does not fit")
    assert plain(found["detail"]).startswith("short of 1")
    assert found["href"] == "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&v=1"


def test_more_context_says_what_it_needs_and_how_fast_it_is(snapshot):
    found = links("gpu=rtx-4090", snapshot)["128K context"]
    assert found["href"] == "/?ctx=131072&v=1"
    assert plain(found["detail"]).endswith("of 23.6 GiB · 125 tok/s")


def test_more_users_say_the_rate_of_each_and_of_all(snapshot):
    found = links("gpu=rtx-4090", snapshot)["16 users"]
    each, total = found["detail"].split(" · ")[1].split(", ")
    rate, all_rates = float(each.split()[0]), float(total.split()[0].replace(",", ""))
    assert rate < all_rates <= 16 * rate  # some wait while others' prompts are read


def test_a_cheaper_machine_names_price_condition_day_and_saving(snapshot):
    found = links("gpu=rtx-4090", snapshot)["GeForce RTX 3090 Ti instead"]
    assert found["detail"].endswith("$850 used of 2026-05, 57% less")


def test_a_rented_machine_names_the_price_of_an_hour(snapshot):
    found = links("model=deepseek-r1&gpu=h200-sxm&n=8", snapshot)
    assert any("an hour of 2026-" in each["detail"] for each in found.values())


def test_systems_are_counted_as_the_question_counts_them(snapshot):
    found = links("model=kimi-k3&gpu=hgx-h100-8&n=4", snapshot)
    name = snapshot.systems["hgx-h100-8"].name
    assert any(title.endswith(f"× {name} instead") or title == f"{name} instead" for title in found)


@pytest.mark.parametrize("query", ["model=deepseek-r1", "n=1000"])
def test_there_is_none_where_the_answer_is_no(query, snapshot):
    assert page_of(query, snapshot)["one_change"] is None
