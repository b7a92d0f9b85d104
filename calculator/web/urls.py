"""Addresses of the calculator's pages."""

from django.urls import path

from calculator.web import views

urlpatterns = [
    path("", views.calculator, name="calculator"),
    path("accuracy/", views.accuracy, name="accuracy"),
    path("accuracy.csv", views.accuracy_csv, name="accuracy-csv"),
    path("memory.csv", views.memory_csv, name="memory-csv"),
]
