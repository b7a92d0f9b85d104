"""Addresses of the calculator's pages."""

from django.urls import path, re_path

from calculator.web import health_views, preview, speed_views, views

urlpatterns = [
    path("", views.calculator, name="calculator"),
    path("one-change/", views.one_change, name="one-change"),
    path("would-fit/", views.would_fit, name="would-fit"),
    re_path(r"^picker/(?P<field>gpu|model)/$", views.picker_verdicts, name="picker"),
    path("section/<slug:name>/", views.section, name="section"),
    path("hardware.csv", views.hardware_csv, name="hardware-csv"),
    path("speed/", speed_views.section, name="speed"),
    path("speed.csv", speed_views.table, name="speed-csv"),
    path("accuracy/", views.accuracy, name="accuracy"),
    path("accuracy.csv", views.accuracy_csv, name="accuracy-csv"),
    path("preview/", preview.see_effect, name="see-effect"),
    path("preview/leave/", preview.leave, name="leave-preview"),
    path("data-health/", health_views.data_health, name="data-health"),
    path("data-health.csv", health_views.data_health_csv, name="data-health-csv"),
    path("memory.csv", views.memory_csv, name="memory-csv"),
]
