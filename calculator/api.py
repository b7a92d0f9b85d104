"""The JSON API: the same Scenario in, the same Estimate out (django-ninja, OpenAPI at /api/docs)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, re_path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.decorators import decorate_view
from ninja.renderers import BaseRenderer

from calculator.planner.sweep import OVER
from calculator.scenario import unknown_names
from calculator.web.answer import answer
from calculator.web.conditional import same_until_changed, same_until_tomorrow, snapshot_of
from calculator.web.exports import catalogue, errors
from calculator.web.exports.estimate import estimate_json, given_text, sweep_json
from calculator.web.exports.hardware import asked_for, hardware_json, hardware_parameters, parameters_of
from calculator.web.exports.offers import FILTERS, offers_json
from calculator.web.exports.openapi import PROBLEM, document_answers
from calculator.web.exports.parameters import body_schema, over_parameter, query_parameters
from calculator.web.exports.sheet import sheet_json
from calculator.web.exports.tco_answer import tco_of_answer
from catalog import live
from catalog.snapshot import Snapshot

View = Callable[..., HttpResponse]
Row = TypeVar("Row")


class Renderer(BaseRenderer):
    """JSON by orjson: ten times as fast, and NaN becomes null."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return orjson.dumps(data)


class Api(NinjaAPI):
    """Every answer, errors too, may be read by pages of other sites: nothing here is private."""

    def create_response(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().create_response(*args, **kwargs)
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "ETag"
        return response

    def get_openapi_schema(self, *args: Any, **kwargs: Any) -> Any:
        """Operations and parameters as ninja finds them, answers and errors from calculator.web.exports.openapi."""
        schema = super().get_openapi_schema(*args, **kwargs)
        document_answers(schema)
        return schema

    def problem(self, request: HttpRequest, details: dict[str, Any]) -> HttpResponse:
        """RFC 9457 problem details."""
        response = self.create_response(request, details, status=details["status"])
        response["Content-Type"] = PROBLEM
        return response


api = Api(
    title="Stowage",
    version="1",
    description=(
        "Which hardware holds which language model. Every answer names the catalogue's version. Errors are RFC 9457 "
        "problem details; names and values that were not taken as given stand in `problems`. The breakdown of memory is "
        "also a table, `/memory.csv`, as are speed and its curves, `/speed.csv`, with the same parameters as "
        "`/api/v1/estimate`."
    ),
    renderer=Renderer(),
    urls_namespace="api",
)


def _answered(view: View) -> View:
    """HEAD is answered where GET is; any other method that the address does not take gets problem details."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        method = request.method
        if method == "HEAD":
            request.method = "GET"  # the server leaves the body out
        response = view(request, *args, **kwargs)
        request.method = method
        if isinstance(response, HttpResponseNotAllowed):
            taken = set(response["Allow"].split(", "))
            methods = sorted(taken | {"OPTIONS"} | ({"HEAD"} if "GET" in taken else set()))
            response = _methods_told(request, methods)
        response["Access-Control-Allow-Origin"] = "*"
        return response

    return answered


def _methods_told(request: HttpRequest, methods: list[str]) -> HttpResponse:
    """A refusal; for OPTIONS what a browser asks before it posts from another site's page."""
    if request.method == "OPTIONS":
        response = HttpResponse(status=204)
        response["Access-Control-Allow-Methods"] = ", ".join(methods)
        response["Access-Control-Allow-Headers"] = "Content-Type, If-None-Match"
    else:
        response = api.problem(request, errors.not_allowed(str(request.method), methods))
    response["Allow"] = ", ".join(methods)
    return response


@csrf_exempt
def no_address(request: HttpRequest) -> HttpResponse:
    """What no operation has: problem details here too."""
    names = [name for name in api.get_openapi_schema()["paths"] if "{" not in name]
    near = difflib.get_close_matches(request.path.rstrip("/"), names, n=3, cutoff=0.6)
    return api.problem(request, errors.no_address(request.path, near))


def addresses() -> tuple[list[URLPattern], str, str]:
    """Every operation's address, and any other below them."""
    found, app_name, namespace = api.urls
    patterns = [pattern for pattern in found if isinstance(pattern, URLPattern)]
    for pattern in patterns:
        assert pattern.callback is not None
        pattern.callback = no_address if pattern.name == "api-root" else _answered(pattern.callback)
    return [*patterns, re_path("", no_address)], app_name, namespace


# --- the estimate -----------------------------------------------------------------------------------------------------


def _estimate(
    request: HttpRequest, given: Mapping[str, str] | Iterable[tuple[str, str]], snapshot: Snapshot
) -> dict[str, Any] | HttpResponse:
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    result = answer(pairs, snapshot)
    names = dict(pairs)
    refused = errors.refused(result.problems)
    if refused:
        return api.problem(request, refused)
    return estimate_json(result, told=tuple(unknown_names(names)))


@api.get("/v1/estimate", tags=["estimate"], openapi_extra={"parameters": query_parameters()})
@decorate_view(same_until_changed)
def estimate(request: HttpRequest) -> Any:
    """Memory, verdict, capacity, speed, energy and cost of one question.

    Values outside their bounds are replaced by the nearest valid ones and named in `problems`, as are names that no
    parameter has. A value that cannot be understood is a 422, an unknown id a 404 with near names.
    """
    return _estimate(request, {name: str(value) for name, value in request.GET.items()}, snapshot_of(request))


@api.post(
    "/v1/estimate",
    tags=["estimate"],
    operation_id="estimate_post",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": body_schema()}}}
    },
)
def estimate_post(request: HttpRequest) -> Any:
    """The same with the parameters as a JSON object."""
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        return api.problem(request, errors.bad_body(_("The body is not JSON.")))
    if not isinstance(body, dict):
        return api.problem(request, errors.bad_body(_("The body is not a JSON object of names and values.")))
    nested = [name for name, value in body.items() if isinstance(value, (dict, list))]
    if nested:
        detail = _("“{name}” is not a plain value.").format(name=nested[0][:60])
        return api.problem(request, errors.bad_body(detail))
    return _estimate(request, given_text(body), live.current())


@api.get(
    "/v1/sweep",
    tags=["estimate"],
    openapi_extra={"parameters": [over_parameter(OVER), *query_parameters()]},
)
@decorate_view(same_until_changed)
def sweep(request: HttpRequest) -> Any:
    """Memory and speed of one question at many values of its context, users, count or prompt.

    Each point is the answer of `/v1/estimate` with that value; speed is null where it does not fit.
    """
    given = {name: str(value) for name, value in request.GET.items()}
    over = given.pop("over", "")
    if over not in OVER:
        return api.problem(request, errors.not_one_of("over", over, OVER))
    result = answer(given, snapshot_of(request))
    refused = errors.refused(result.problems)
    if refused:
        return api.problem(request, refused)
    return sweep_json(result, over, told=tuple(unknown_names(given)))


@api.get("/v1/tco", tags=["estimate"], openapi_extra={"parameters": query_parameters()})
@decorate_view(same_until_tomorrow)
def tco(request: HttpRequest) -> Any:
    """Rent, buy or API for one question: cost per million tokens, energy, break-even, NPV, what matters most, and the
    numbers of both charts. Null, with a sentence in `reasons`, is what does not exist; nothing is infinite.
    """
    given = {name: str(value) for name, value in request.GET.items()}
    result = answer(given, snapshot_of(request))
    refused = errors.refused(result.problems)
    if refused:
        return api.problem(request, refused)
    return tco_of_answer(result, timezone.localdate(), told=tuple(unknown_names(given)))


# --- every device for one question ------------------------------------------------------------------------------------


@api.get("/v1/hardware", tags=["estimate"], openapi_extra={"parameters": hardware_parameters()})
@decorate_view(same_until_changed)
def hardware(request: HttpRequest) -> Any:
    """Every device and system for the model of the question, ranked: the smallest count that fits, or what is missing.

    `gpu`, `n`, the plan and offload of the question are left open. `kind`, `vendor`, `gpu_only` and `memory_min` narrow the
    list, `sort` orders it, `best` adds the best weights format of one unit. What is recommended is named with its rule.
    """
    snapshot = snapshot_of(request)
    asked = asked_for(((name, str(value)) for name, value in request.GET.items()), snapshot)
    refused = errors.refused(asked.problems, parameters_of(snapshot))
    return api.problem(request, refused) if refused else hardware_json(asked, snapshot)


# --- what exists ------------------------------------------------------------------------------------------------------


def _one(
    request: HttpRequest,
    kind: str,
    given: str,
    rows: Mapping[str, Row],
    as_json: Callable[[Row, Snapshot], dict[str, Any]],
) -> dict[str, Any] | HttpResponse:
    """The row of an id, or a 404 with near names."""
    row = rows.get(given.lower())
    if row is None:
        near = difflib.get_close_matches(given.lower(), list(rows), n=5, cutoff=0.4)
        return api.problem(request, errors.not_found(kind, given, near))
    return as_json(row, snapshot_of(request))


@api.get("/v1/models", tags=["catalogue"])
@decorate_view(same_until_changed)
def models(request: HttpRequest) -> dict[str, Any]:
    """Every model, one small row each."""
    return {"items": [catalogue.model_row(model) for model in snapshot_of(request).models.values()]}


@api.get("/v1/models/{model_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def model_sheet(request: HttpRequest, model_id: str) -> Any:
    """The sheet of one model: sizes in every format, cache and state per request, published files, sources."""
    snapshot = snapshot_of(request)
    model = snapshot.models.get(model_id.lower())
    if model is None:
        return api.problem(
            request, errors.not_found("model", model_id, snapshot.near_names("model", model_id))
        )
    return sheet_json(model, snapshot)


@api.get("/v1/accelerators", tags=["catalogue"])
@decorate_view(same_until_changed)
def accelerators(request: HttpRequest) -> dict[str, Any]:
    """Every device, one small row each."""
    return {
        "items": [catalogue.accelerator_row(device) for device in snapshot_of(request).accelerators.values()]
    }


@api.get("/v1/accelerators/{gpu_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def accelerator(request: HttpRequest, gpu_id: str) -> Any:
    """One device with its figures and their sources."""
    snapshot = snapshot_of(request)
    device = snapshot.accelerators.get(gpu_id.lower())
    if device is None:
        return api.problem(request, errors.not_found("gpu", gpu_id, snapshot.near_names("gpu", gpu_id)))
    return catalogue.accelerator_json(device, snapshot)


@api.get("/v1/systems", tags=["catalogue"])
@decorate_view(same_until_changed)
def systems(request: HttpRequest) -> dict[str, Any]:
    """Named machines and clusters."""
    return {"items": [catalogue.system_row(system) for system in snapshot_of(request).systems.values()]}


@api.get("/v1/systems/{system_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def system(request: HttpRequest, system_id: str) -> Any:
    """One system with its device, links and sources."""
    snapshot = snapshot_of(request)
    return _one(request, "system", system_id, snapshot.systems, catalogue.system_json)


@api.get("/v1/engines", tags=["catalogue"])
@decorate_view(same_until_changed)
def engines(request: HttpRequest) -> dict[str, Any]:
    """Inference engines at the versions that were read."""
    return {"items": [catalogue.engine_row(engine) for engine in snapshot_of(request).engines.values()]}


@api.get("/v1/engines/{engine_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def engine(request: HttpRequest, engine_id: str) -> Any:
    """One engine with the formats that it reads."""
    return _one(request, "engine", engine_id, snapshot_of(request).engines, catalogue.engine_json)


@api.get("/v1/formats", tags=["catalogue"])
@decorate_view(same_until_changed)
def formats(request: HttpRequest) -> dict[str, Any]:
    """Formats of weights."""
    return {"items": [catalogue.format_row(each) for each in snapshot_of(request).formats.values()]}


@api.get("/v1/formats/{format_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def weights_format(request: HttpRequest, format_id: str) -> Any:
    """One format with the models that are published in it."""
    return _one(request, "format", format_id, snapshot_of(request).formats, catalogue.format_json)


@api.get("/v1/offers", tags=["prices"], openapi_extra={"parameters": FILTERS})
@decorate_view(same_until_tomorrow)
def offers(request: HttpRequest) -> Any:
    """What clouds ask for accelerators, each price with its day, age and source; the newest first.

    A price is fresh for 30 days and stale after 90; one without a date is `undated`. Filters narrow the list; a market or
    an age that cannot be understood is a 422, an unknown provider or accelerator a 404 with near names.
    """
    given = {name: str(value) for name, value in request.GET.items()}
    found = offers_json(snapshot_of(request), given, timezone.localdate())
    return api.problem(request, found) if "status" in found else found


@api.get("/v1/health/catalog", tags=["catalogue"])
@decorate_view(same_until_changed)
def health(request: HttpRequest) -> dict[str, Any]:
    """Which state of the catalogue answers."""
    return catalogue.health_json(snapshot_of(request))
