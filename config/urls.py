"""Addresses of the site. The pages' own addresses are in calculator.web.urls, the API's in calculator.api."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from calculator.api import addresses
from config import health

admin.site.site_header = admin.site.site_title = f"{settings.SITE_NAME} administration"

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("favicon.ico", health.favicon),
    path("api/", addresses()),
    path("admin/", admin.site.urls),
    path("", include("calculator.web.urls")),
]
