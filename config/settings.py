"""Settings of the site. Each environment variable read here stands in the README's table (a test looks)."""

from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF

from config.env import check_secret, env_bool, env_choice, env_int, env_list, env_secret, env_text

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = (
    BASE_DIR / "var"
)  # what the running site writes: database, collected static files, the generated key

SITE_NAME = "Stowage"

# --- Safety ---------------------------------------------------------------------------------------------------------

DEBUG = env_bool("STOWAGE_DEBUG", default=False)

SECRET_KEY = env_secret("SECRET_KEY", default_file=VAR_DIR / "secret_key")
if DEBUG:
    SECRET_KEY = SECRET_KEY or "only-for-development-only-for-development-only-for-development"
else:
    check_secret("SECRET_KEY", SECRET_KEY)

ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])

# HTTPS is one switch, because half of it protects nobody.
HTTPS = env_bool("STOWAGE_HTTPS", default=False)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # a load balancer asks these over plain HTTP
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = env_int("STOWAGE_HSTS_SECONDS", 3600) if HTTPS else 0
# Binds every subdomain, and browsers remember it for long: on only when asked for.
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env_bool("STOWAGE_HSTS_PRELOAD", default=False)
if env_bool("STOWAGE_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Plotly writes one empty <style> element and fills it through the CSSOM; this is the hash of the empty string.
EMPTY_STYLE_HASH = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, EMPTY_STYLE_HASH],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
# A query as long as a request line may be (8,190 bytes) holds up to 4,095 names; the page opens for it.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
CSRF_FAILURE_VIEW = "config.reading.form_refused"
X_FRAME_OPTIONS = "DENY"  # the same as frame-ancestors, for old browsers

# --- Parts ----------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "catalog.apps.CatalogConfig",
    "calculator.apps.CalculatorConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "import_export",
    "simple_history",
    "ninja",  # brings Swagger UI's files, so that the API's page needs no other host
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",  # answers /static/ before anything else runs
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",  # the site's own pages
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "config.jinja.environment"},
    },
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",  # the admin and the API's documentation
        "DIRS": [BASE_DIR / "templates/django"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Data -----------------------------------------------------------------------------------------------------------

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(
        env_text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'stowage.sqlite3'}"),
        conn_max_age=600,
        conn_health_checks=True,
    ),
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    VAR_DIR.mkdir(exist_ok=True)
    # WAL lets readers go on while the admin writes; IMMEDIATE makes a second writer wait instead of failing.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 10,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }

# Tables that an editor imports: a file of the whole catalogue's models has 2 MB and 329 rows.
CATALOG_IMPORT_MOST_BYTES = 8 * 10**6
CATALOG_IMPORT_MOST_ROWS = 5_000
# A model's page has a field for every figure of its layers, files and checkpoints.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- Language, time, numbers ----------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# Chinese ("zh-hans") joins this list, and LocaleMiddleware the one above, once its translation is complete.
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
USE_THOUSAND_SEPARATOR = False  # the presenters format numbers; templates only place them

# --- Static files ---------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.storage.HashedStaticFilesStorage",
    },
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Compressed already, or (source maps) read only by a developer's tools: compressing them takes most of the time.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["png", "woff2", "gz", "br", "map"]
WHITENOISE_MAX_AGE = 0 if DEBUG else 3600  # for the few files asked for without a hash in the name

# --- Log ------------------------------------------------------------------------------------------------------------

LOG_LEVEL = env_choice("STOWAGE_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # Django's own handlers would print each line twice or mail it.
    "loggers": {"django": {"handlers": [], "propagate": True}},
}
