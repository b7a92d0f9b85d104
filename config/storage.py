from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Put a hash in each file's name, also where one JavaScript module imports another."""

    support_js_module_import_aggregation = True
