"""One Langfuse server, read through the official SDK: the only module of labadapt that opens a connection.

Needs the extra ``labadapt[langfuse]``; the SDK is imported when a server is opened, and not before. What an answer says
is taken from its bytes as they arrived, and the SDK's models are never made: a model rounds what it converts, and
refuses a whole page for one value. The SDK asks: addresses, parameters, authorisation, and retries with Retry-After.

No key leaves through here: not in an answer, a message, a representation or a chained exception.
"""

import ipaddress
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn

import msgspec
from labadapt.adapters.langfuse.answers import ErrorAnswer, Page, page_of, removed_keys
from labadapt.schema.problems import Problem, Refusal

if TYPE_CHECKING:
    import httpx
    from langfuse.api import LangfuseAPI

TIMEOUT = 60.0  # seconds; the SDK's own 5 are too few for a page of 1,000 observations
TRIES = 3  # of one request that gets no answer at all
ROWS = 100  # the most that every list but observations gives in a page
OBSERVATION_ROWS = 1000
_EXPERIMENT_FIELDS = "core,metadata"
_ITEM_FIELDS = "core,dataset,io,metadata,itemMetadata"
# Without io the server cuts metadata to 200 characters.
_OBSERVATION_FIELDS = "core,basic,io,metadata,model,usage"


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a server is and who asks. `timeout` in seconds, for one request; its representation holds no key.

    `insecure_http`: plain HTTP is accepted for hosts other than this machine.
    """

    address: str
    public_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    insecure_http: bool = False
    timeout: float = TIMEOUT


class Server:
    """The requests of the read path, one method each; every one gives a `Page` or raises `Refusal`.

    Raises ``MISSING_EXTRA``, ``UNSAFE_ADDRESS``, ``NO_ANSWER`` (after `TRIES`), ``ANSWERED_WITH_ERROR`` or
    ``BAD_ANSWER``. `sleep` waits for seconds between two tries. `requests` counts the answers that arrived.
    """

    def __init__(self, connection: Connection, sleep: Callable[[float], None]) -> None:
        """Prepare the client; nothing is sent yet."""
        self.requests = 0
        self.keys_removed = 0
        self._connection = connection
        self._sleep = sleep
        self._answer: tuple[int, bytes] | None = None
        require_safe(connection)
        self._http = self._client()
        self._api = self._sdk(self._http)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def datasets(self, page: int) -> Page:
        """A page, counted from 1, of all datasets of the project."""
        return self._page(lambda: self._api.datasets.list(page=page, limit=ROWS))

    def dataset(self, name: str) -> Page:
        """The dataset of this name, as a page of one row. ``ANSWERED_WITH_ERROR`` 404 where there is none."""
        from urllib.parse import quote

        return self._page(lambda: self._api.datasets.get(quote(name, safe="")))

    def dataset_items(self, name: str, version: datetime | None, page: int) -> Page:
        """A page, counted from 1, of the dataset's items as they were at `version`, or as they are."""
        return self._page(
            lambda: self._api.dataset_items.list(dataset_name=name, version=version, page=page, limit=ROWS)
        )

    def experiments(
        self, since: datetime, cursor: str | None, *, dataset_id: str | None = None, ids: Iterable[str] | None = None
    ) -> Page:
        """Experiments with events since then, of a dataset or with these ids. Never by name: a comma splits it."""
        return self._page(
            lambda: self._api.experiments.list(
                from_start_time=since,
                fields=_EXPERIMENT_FIELDS,
                limit=ROWS,
                cursor=cursor,
                dataset_id=dataset_id,
                id=None if ids is None else ",".join(ids),
            )
        )

    def experiment_items(self, experiment_id: str, since: datetime, cursor: str | None) -> Page:
        """Items of one experiment that started since then."""
        return self._page(
            lambda: self._api.experiments.list_items(
                from_start_time=since,
                fields=_ITEM_FIELDS,
                limit=ROWS,
                cursor=cursor,
                experiment_id=experiment_id,
            )
        )

    def observations(self, trace_ids: Iterable[str], cursor: str | None) -> Page:
        """Observations of all these traces."""
        condition = {"type": "stringOptions", "column": "traceId", "operator": "any of", "value": list(trace_ids)}
        return self._page(
            lambda: self._api.observations.get_many(
                fields=_OBSERVATION_FIELDS,
                limit=OBSERVATION_ROWS,
                cursor=cursor,
                filter=msgspec.json.encode([condition]).decode(),
            )
        )

    # -- one request ---------------------------------------------------------------------------------------------------

    def _page(self, ask: Callable[[], object]) -> Page:
        """The answer's own bytes, without keys; the SDK's reading of them is not used."""
        for left in reversed(range(TRIES)):
            self._answer = None
            try:
                return page_of(self._without_keys(self._asked(ask)))
            except _Unanswered as fault:
                if not left:
                    self._give_up(fault)
            self._sleep(float(TRIES - left))
        raise AssertionError("the last try returns or raises")

    def _asked(self, ask: Callable[[], object]) -> bytes:
        with self._sdk_faults():
            ask()
        if self._answer is None:  # a name that cannot be looked up is a ValueError to Python
            raise _Unanswered("no answer arrived")
        status, body = self._answer
        if not 200 <= status < 300:
            raise ErrorAnswer(status, self._without_keys(body))
        return body

    @contextmanager
    def _sdk_faults(self) -> Iterator[None]:
        """Let pass what the SDK says of an answer that arrived; its bytes are judged by themselves.

        No fault keeps its cause, which may quote headers.
        """
        import httpx
        from langfuse.api.core import ApiError

        try:
            yield
        except (httpx.TransportError, httpx.DecodingError) as error:
            fault = _Unanswered(_described(error))
        except (_Arrived, ApiError, ValueError, RecursionError):
            return
        else:
            return
        raise fault from None

    def _give_up(self, fault: "_Unanswered") -> NoReturn:
        raise Refusal(
            Problem(
                code="NO_ANSWER",
                message=f"{self._connection.address} did not answer in {TRIES} tries: {fault}",
                hint="Check LANGFUSE_BASE_URL and the network; --timeout waits longer for one answer.",
            )
        ) from None

    def _without_keys(self, body: bytes) -> bytes:
        body, count = removed_keys(body, self._secrets())
        self.keys_removed += count
        return body

    def _secrets(self) -> tuple[str, ...]:
        public, secret = self._connection.public_key, self._connection.secret_key
        return secret, b64encode(f"{public}:{secret}".encode()).decode(), public

    # -- the SDK -------------------------------------------------------------------------------------------------------

    def _client(self) -> "httpx.Client":
        """Certificates are verified, proxies are those of the environment, and no redirect is followed."""
        try:
            import httpx
        except ImportError:
            raise Refusal(missing_extra()) from None
        try:
            httpx.URL(self._connection.address)
        except httpx.InvalidURL:
            raise _unsafe("the address is no URL") from None
        try:
            return httpx.Client(
                timeout=self._connection.timeout,
                follow_redirects=False,
                event_hooks={"request": [self._require_host], "response": [self._keep]},
            )
        except (ValueError, ImportError):  # a proxy of an unknown kind; what it says may quote a password
            raise Refusal(
                Problem(code="UNSAFE_ADDRESS", message="the proxy that the environment names cannot be used")
            ) from None

    def _sdk(self, http: "httpx.Client") -> "LangfuseAPI":
        try:
            from langfuse.api import LangfuseAPI
        except ImportError:
            raise Refusal(missing_extra()) from None
        api = LangfuseAPI(
            base_url=self._connection.address,
            username=self._connection.public_key,
            password=self._connection.secret_key,
            timeout=self._connection.timeout,
            httpx_client=http,
        )
        if not hasattr(api, "experiments"):
            raise Refusal(missing_extra("the installed Langfuse SDK is older than 5 and has no experiments"))
        return api

    def _require_host(self, request: "httpx.Request") -> None:
        """The last look before anything is sent: the keys go to the configured host only."""
        import httpx

        asked, own = request.url, httpx.URL(self._connection.address)
        if (asked.scheme, asked.host, asked.port) != (own.scheme, own.host, own.port):
            raise Refusal(
                Problem(code="UNSAFE_ADDRESS", message=f"a request to {asked.host} instead of {own.host} was stopped")
            )

    def _keep(self, response: "httpx.Response") -> None:
        self.requests += 1
        self._answer = (response.status_code, response.read())
        if response.is_success:  # errors go back to the SDK, which knows which are worth another try
            raise _Arrived


class _Arrived(Exception):
    """The answer is here, whole: the SDK need not make models of it, which takes five times as long as all the rest."""


class _Unanswered(Exception):
    """One try of a request ended without an answer; its text says why."""


def _described(error: Exception) -> str:
    """What kind of fault, in words of ours: a library's own text may quote an address or a header."""
    names = [kind.__name__ for kind in type(error).__mro__]
    for kind, text in _KINDS.items():
        if kind in names:
            return text
    return type(error).__name__


_KINDS: Mapping[str, str] = {
    "ConnectTimeout": "no connection within the time-out",
    "TimeoutException": "no answer within the time-out",
    "ProxyError": "the proxy refused",
    "ConnectError": "no connection: the host is unknown, refuses, or has a certificate that does not verify",
    "RemoteProtocolError": "the connection was cut in the middle of the answer",
    "ReadError": "the connection was cut in the middle of the answer",
    "DecodingError": "the answer is compressed and does not decompress",
}


def missing_extra(message: str = "the Langfuse SDK is not installed") -> Problem:
    """The problem of an installation without the SDK."""
    return Problem(code="MISSING_EXTRA", message=message, hint="pip install 'labadapt[langfuse]'")


def require_safe(connection: Connection) -> None:
    """Refuse an address that would show the keys to others. Raises ``UNSAFE_ADDRESS``."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(connection.address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _unsafe("the address is no URL") from None
    if parts.scheme not in {"https", "http"} or not host:
        raise _unsafe("the address is no http or https URL with a host")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise _unsafe("the address holds more than a host and a path")
    if parts.scheme == "http" and not connection.insecure_http and not _this_machine(host):
        raise _unsafe(
            f"plain HTTP would send the keys to {host} for anybody to read",
            "Use https://, or give --insecure-http on a network that you trust.",
        )


def _unsafe(
    message: str, hint: str = "Set LANGFUSE_BASE_URL to an address such as https://langfuse.example.com"
) -> Refusal:
    return Refusal(Problem(code="UNSAFE_ADDRESS", message=message, hint=hint))


def _this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
