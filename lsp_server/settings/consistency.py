"""What single values cannot show: names that lead nowhere, models that cannot work as they are written."""

from collections.abc import Mapping
from typing import Any

from lsp_server.settings.checking import REFUSED, Report, suggestion
from lsp_server.texts import settings as texts

SCHEMES = {
    "responses-ws": ("wss", "ws", "https", "http"),
    "responses-http": ("https", "http"),
    "chat-http": ("https", "http"),
    "anthropic-http": ("https", "http"),
    "fim-http": ("https", "http"),
}


def settle(tree: dict[str, Any], report: Report) -> None:
    """Report what contradicts itself in a merged tree of settings, and take it out of the tree."""
    models = tree["models"]
    for name, model in list(models.items()):
        fault = _fault(model)
        if fault:
            report(("models", name), fault)
            del models[name]
    for task, name in tree["tasks"].items():
        if name not in models:
            near = suggestion(name, models)
            report(("tasks", task), texts.NO_USABLE_MODEL.format(name=name, suggestion=near))
            tree["tasks"][task] = "local"
    for name, model in models.items():
        fallback = model.get("fallback")
        if fallback and fallback not in models:
            sentence = texts.NO_USABLE_MODEL.format(name=fallback, suggestion=suggestion(fallback, models))
            report(("models", name, "fallback"), sentence)
            model["fallback"] = ""
        elif fallback and _circles(models, name):
            report(("models", name, "fallback"), texts.LEADS_BACK)
            model["fallback"] = ""


def _fault(model: Mapping[str, Any]) -> str:
    """Why this model cannot be used; empty when it can."""
    url, protocol = model.get("url", ""), model.get("protocol")
    if REFUSED in (url, model.get("proxy")):
        return texts.NO_ADDRESS
    if protocol is None and url:
        return texts.NO_PROTOCOL.format(protocols=", ".join(SCHEMES))
    if protocol in (None, "local"):
        return "" if model.get("model") else texts.NO_WEIGHTS_NAMED
    if not model.get("model") and protocol != "fim-http":
        return texts.NO_ID
    if protocol == "fim-http" and not url:
        return texts.NO_URL
    if url and url.partition("://")[0] not in SCHEMES[protocol]:
        wanted = " or ".join(f"{scheme}://" for scheme in SCHEMES[protocol])
        return texts.WRONG_SCHEME.format(wanted=wanted)
    return ""


def _circles(models: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """True when the chain of fallbacks comes back to this model."""
    seen = set()
    following = models[name].get("fallback", "")
    while following in models and following not in seen:
        if following == name:
            return True
        seen.add(following)
        following = models[following].get("fallback", "")
    return False
