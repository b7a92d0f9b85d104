"""Addresses of the calculator's pages."""

from django.urls import path

from calculator.web import views

urlpatterns = [
    path("", views.calculator, name="calculator"),
    path("memory.csv", views.memory_csv, name="memory-csv"),
]
