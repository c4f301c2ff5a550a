"""Every JSON route keeps to the OpenAPI document, whatever it is asked: schemathesis asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web_server import Served, served
from wavefit.chips import chip as find_chip
from wavefit.web.answers import instructions_of
from wavefit.web.app import application
from wavefit.web.guard import Keys
from wavefit.web.worker import Bounds

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install schemathesis")
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

pytestmark = pytest.mark.heavy

APP = application(Keys.of("127.0.0.1", 80))
ROUTES = {
    each.ok().label: each.ok()
    for each in schemathesis.openapi.from_dict(APP.app.openapi()).get_all_operations()
}
"""By name: a generator of requests, of the kinds that keep to the document and those that do not."""
CHIPS = ("MI355X", "MI100", "RX 7900 XTX", "BW1000", "H200", "gfx90a")
PATIENT = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def local() -> Iterator[Served]:
    with served(Bounds(upload=1 << 20, seconds=20)) as running:
        yield running


def ask(route: str, local: Served, examples: int, mode: str) -> None:
    """Requests of one route: each answer is one that the document knows, of the shape that it says.

    That a request is of the right shape does not make it answerable: `vgprs` and `total_vgprs` together, a
    chip nobody has. Those are 422 too, so the check that every well-shaped request succeeds is left out.
    """
    bearer = {"Authorization": f"Bearer {local.keys.token}"}

    @settings(PATIENT, max_examples=examples)
    @given(ROUTES[route].as_strategy(generation_mode=GenerationMode(mode)), st.sampled_from(CHIPS))
    def asked(case: schemathesis.Case, chip: str) -> None:
        if mode == "positive":  # names that exist, or nearly every answer is that there is no such chip
            known = {"chip": chip, "instruction": next(iter(instructions_of(find_chip(chip))), None)}
            case.query.update({key: name for key, name in known.items() if name and key in case.query})
        case.call_and_validate(
            base_url=local.home, headers=bearer, excluded_checks=[positive_data_acceptance]
        )

    asked()


@pytest.mark.parametrize(
    ("route", "mode"),
    [
        (route, mode)
        for route in ROUTES
        for mode in ("positive", "negative")
        if route.startswith("GET") and (route, mode) != ("GET /api/chips", "negative")  # it takes nothing
    ],
)
def test_every_get_route_keeps_to_the_document(route: str, mode: str, local: Served) -> None:
    ask(route, local, 60, mode)


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("route", [route for route in ROUTES if route.startswith("POST")])
def test_every_upload_route_keeps_to_the_document(route: str, mode: str, local: Served) -> None:
    ask(route, local, 6, mode)


def test_every_route_below_api_is_described(local: Served) -> None:
    described = local.get("/openapi.json").json
    assert set(described["paths"]) == {
        "/api/fit", "/api/stairs", "/api/chips", "/api/chips/{name}", "/api/matrix", "/api/layout",
        "/api/feed", "/api/feed/curves", "/api/tiles", "/api/report", "/api/confirm",
    }  # fmt: skip
