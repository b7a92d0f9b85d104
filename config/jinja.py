"""The site's own pages are Jinja templates, which render in a fifth of the time that Django's own language takes.

Django's language stays for the admin and the API's documentation (templates/django).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import jinja2
from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.nodes import Expr
from markupsafe import Markup, _escape_inner, escape

from config.language import language

_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class Unindented(Extension):
    """Leave out the indentation of each line: HTML reads one space as it reads ten."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _INDENTATION.sub("", source)


class LeanCodeGenerator(CodeGenerator):
    """Compile `{{ value }}` to a call of Environment.escaped: half the cost of a tag is the object that it skips."""

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escaped(")


class Environment(jinja2.Environment):
    code_generator_class = LeanCodeGenerator

    @staticmethod
    def escaped(value: Any) -> str:
        """Escape as markupsafe.escape does; plain text, which is nearly everything, gets no Markup around it."""
        if type(value) is str:
            return _escape_inner(value)
        return value if type(value) is Markup else escape(value)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`panel.title` is a key first: the presenters hand over dicts, and a failed attribute costs an exception."""
        try:
            return obj[attribute]
        except (TypeError, LookupError):
            return super().getattr(obj, attribute)

    def make_globals(self, d: Any) -> dict[str, Any]:
        """One dict instead of Jinja's chain of two, which is walked for each name of a macro."""
        return {**self.globals, **(d or {})}


def gettext(message: str, **variables: object) -> Markup:
    """Translate as Jinja's newstyle gettext does: the message is safe, what is put into it is escaped."""
    return Markup(translation.gettext(message)) % variables  # noqa: S704 - written by us and our translators


def remembered(translate: Callable[..., Markup]) -> Callable[..., Markup]:
    """Remember each message without variables, by language."""

    @cache
    def in_language(_language: str | None, message: str) -> Markup:
        return translate(message)

    def gettext(message: str, **variables: object) -> Markup:
        return translate(message, **variables) if variables else in_language(language(), message)

    return gettext


def environment(**options: Any) -> Environment:
    """Build the environment for Django's Jinja2 backend. A name that a template misspells is an error."""
    made = Environment(
        **{
            **options,
            "cache_size": -1,  # all of them
            "extensions": ["jinja2.ext.i18n", Unindented],
            "trim_blocks": True,
            "undefined": jinja2.StrictUndefined,
        }
    )
    made.policies["ext.i18n.trimmed"] = (
        True  # a message over several lines is one line, as translators get it
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]
        translation.gettext, translation.ngettext, newstyle=True, pgettext=translation.pgettext
    )
    translate = gettext if settings.DEBUG else remembered(gettext)
    made.globals |= {
        "SITE_NAME": settings.SITE_NAME,
        "_": translate,
        "gettext": translate,
        # Addresses stay as long as the process lives; looking one up costs more than the tag around it.
        "static": static if settings.DEBUG else cache(static),
        "url": reverse if settings.DEBUG else cache(reverse),
    }
    return made
