from django.contrib import admin

from catalog.admin.entries import EntryAdmin
from catalog.models import Lab


@admin.register(Lab)
class LabAdmin(EntryAdmin):
    columns = ("name", "slug", "country", "name_zh")
    own_filters = ("country",)
    groups = ((None, {"fields": ["slug", "name", "name_zh", "country"]}),)
    search_fields = ("slug", "name", "name_zh")
