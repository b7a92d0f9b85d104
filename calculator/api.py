"""The JSON API: the same Scenario in, the same Estimate out (django-ninja, OpenAPI at /api/docs)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.decorators import decorate_view
from ninja.renderers import BaseRenderer

from calculator.web.answer import answer
from calculator.web.exports import catalogue, errors
from calculator.web.exports.estimate import estimate_json, given_text
from calculator.web.exports.parameters import body_schema, query_parameters
from calculator.web.exports.sheet import sheet_json
from calculator.web.release import release
from catalog import live
from catalog.snapshot import Snapshot

View = Callable[..., HttpResponse]


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
        return response

    def problem(self, request: HttpRequest, details: dict[str, Any]) -> HttpResponse:
        """RFC 9457 problem details."""
        response = self.create_response(request, details, status=details["status"])
        response["Content-Type"] = "application/problem+json"
        return response


api = Api(
    title="Stowage",
    version="1",
    description=(
        "Which hardware holds which language model, how fast, at what cost. Every answer names the catalogue's version. "
        "Errors are RFC 9457 problem details."
    ),
    renderer=Renderer(),
    urls_namespace="api",
)


def same_until_changed(view: View) -> View:
    """Answer 304 while neither the catalogue nor the program has changed; hand the view its snapshot."""

    @wraps(view)
    def conditional(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        snapshot = live.current()
        request.snapshot = snapshot  # type: ignore[attr-defined]
        etag = f'"{snapshot.version}-{release()}"'
        if etag in parse_etags(request.headers.get("If-None-Match", "")):
            response: HttpResponse = HttpResponseNotModified()
        else:
            response = view(request, *args, **kwargs)
        if response.status_code in (200, 304):
            response["ETag"] = etag
            response["Cache-Control"] = "public, max-age=0, must-revalidate"
        return response

    return conditional


def _snapshot(request: HttpRequest) -> Snapshot:
    snapshot: Snapshot = request.snapshot  # type: ignore[attr-defined]
    return snapshot


# --- the estimate -----------------------------------------------------------------------------------------------------


def _estimate(
    request: HttpRequest, given: Mapping[str, str] | Iterable[tuple[str, str]], snapshot: Snapshot
) -> dict[str, Any] | HttpResponse:
    result = answer(given, snapshot)
    refused = errors.refused(result.problems)
    return api.problem(request, refused) if refused else estimate_json(result)


@api.get("/v1/estimate", tags=["estimate"], openapi_extra={"parameters": query_parameters()})
@decorate_view(same_until_changed)
def estimate(request: HttpRequest) -> Any:
    """Memory, verdict and capacity of one question.

    Values outside their bounds are replaced by the nearest valid ones and named in `problems`. A value that cannot be
    understood is a 422, an unknown id a 404 with near names.
    """
    return _estimate(request, {name: str(value) for name, value in request.GET.items()}, _snapshot(request))


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


# --- what exists ------------------------------------------------------------------------------------------------------


@api.get("/v1/models", tags=["catalogue"])
@decorate_view(same_until_changed)
def models(request: HttpRequest) -> dict[str, Any]:
    """Every model, one small row each."""
    return {"items": [catalogue.model_row(model) for model in _snapshot(request).models.values()]}


@api.get("/v1/models/{model_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def model_sheet(request: HttpRequest, model_id: str) -> Any:
    """The sheet of one model: sizes in every format, cache and state per request, published files, sources."""
    snapshot = _snapshot(request)
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
        "items": [catalogue.accelerator_row(device) for device in _snapshot(request).accelerators.values()]
    }


@api.get("/v1/accelerators/{gpu_id}", tags=["catalogue"])
@decorate_view(same_until_changed)
def accelerator(request: HttpRequest, gpu_id: str) -> Any:
    """One device with its figures and their sources."""
    snapshot = _snapshot(request)
    device = snapshot.accelerators.get(gpu_id.lower())
    if device is None:
        return api.problem(request, errors.not_found("gpu", gpu_id, snapshot.near_names("gpu", gpu_id)))
    return catalogue.accelerator_json(device, snapshot)


@api.get("/v1/systems", tags=["catalogue"])
@decorate_view(same_until_changed)
def systems(request: HttpRequest) -> dict[str, Any]:
    """Named machines and clusters."""
    return {"items": [catalogue.system_row(system) for system in _snapshot(request).systems.values()]}


@api.get("/v1/engines", tags=["catalogue"])
@decorate_view(same_until_changed)
def engines(request: HttpRequest) -> dict[str, Any]:
    """Inference engines at the versions that were read."""
    return {"items": [catalogue.engine_row(engine) for engine in _snapshot(request).engines.values()]}


@api.get("/v1/formats", tags=["catalogue"])
@decorate_view(same_until_changed)
def formats(request: HttpRequest) -> dict[str, Any]:
    """Formats of weights."""
    return {"items": [catalogue.format_row(each) for each in _snapshot(request).formats.values()]}


@api.get("/v1/health/catalog", tags=["catalogue"])
@decorate_view(same_until_changed)
def health(request: HttpRequest) -> dict[str, Any]:
    """Which state of the catalogue answers."""
    return catalogue.health_json(_snapshot(request))
