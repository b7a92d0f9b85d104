"""Addresses of the calculator's pages."""

from django.urls import path

from calculator.web import preview, views

urlpatterns = [
    path("", views.calculator, name="calculator"),
    path("preview/", preview.see_effect, name="see-effect"),
    path("preview/leave/", preview.leave, name="leave-preview"),
    path("memory.csv", views.memory_csv, name="memory-csv"),
]
