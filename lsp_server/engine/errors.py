"""Every failure of a model or an edit that a user can meet.

MidstreamError              a sentence for the user; nothing is lost
├── BackendError            the model side
│   ├── Unreachable         no connection: refused, no name, no route, TLS, proxy
│   ├── Unauthorized        the key is missing, wrong or expired
│   ├── RateLimited         too many requests; `retry_after` in seconds when the provider said so
│   ├── Overloaded          the provider cannot serve now (5xx, 529)
│   ├── Stalled             connected, but nothing came in time
│   ├── Interrupted         the stream ended before its end
│   ├── Rejected            the request itself is not accepted (4xx, unknown model, too long)
│   └── ModelMissing        weights, extra or binary of the embedded model are not there
├── BudgetExceeded          refused before anything was sent
└── EditRefused             the reply cannot be applied safely
"""


class MidstreamError(Exception):
    """`str(error)` is one sentence that says what happened and what to do."""

    code = "error"

    def __init__(self, sentence: str, *, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class BackendError(MidstreamError):
    """`retryable` says that the same request may work on a fresh connection."""

    code = "backend"
    retryable = False


class Unreachable(BackendError):
    code = "unreachable"
    retryable = True


class Unauthorized(BackendError):
    code = "unauthorized"


class RateLimited(BackendError):
    code = "rate_limited"

    def __init__(self, sentence: str, *, retry_after: float | None = None, detail: str = "") -> None:
        super().__init__(sentence, detail=detail)
        self.retry_after = retry_after


class Overloaded(BackendError):
    code = "overloaded"
    retryable = True


class Stalled(BackendError):
    code = "stalled"
    retryable = True


class Interrupted(BackendError):
    code = "interrupted"
    retryable = True


class Rejected(BackendError):
    code = "rejected"


class ModelMissing(BackendError):
    code = "model_missing"


class BudgetExceeded(MidstreamError):
    code = "budget"


class EditRefused(MidstreamError):
    """`restores`: what was written of the edit is taken back, because half of it makes no sense."""

    code = "refused"

    def __init__(self, sentence: str, *, restores: bool = False, detail: str = "") -> None:
        super().__init__(sentence, detail=detail)
        self.restores = restores
