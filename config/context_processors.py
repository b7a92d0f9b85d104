from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, str]:  # noqa: ARG001 - Django passes it
    return {"SITE_NAME": settings.SITE_NAME}
