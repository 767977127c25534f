"""No key leaves but to the configured host, and none stands in anything that is written or said."""

import base64
import traceback
from typing import Any

import pytest
from labadapt.adapters.langfuse.client import Connection, Server, require_safe
from labadapt.schema.problems import Refusal


def keys(lab: Any) -> list[str]:
    return [
        lab.PUBLIC_KEY,
        lab.SECRET_KEY,
        base64.b64encode(f"{lab.PUBLIC_KEY}:{lab.SECRET_KEY}".encode()).decode(),
    ]


@pytest.mark.parametrize(
    "address",
    [
        "http://langfuse.example.com",
        "http://10.0.0.7:3000",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "https://pk:sk@langfuse.example.com",
        "https://user@langfuse.example.com",
        "https://langfuse.example.com?key=1",
        "https://langfuse.example.com#x",
        "ftp://langfuse.example.com",
        "langfuse.example.com",
        "https://",
        "https://[::1",
        "https://langfuse.example.com:port",
        "file:///etc/passwd",
        "https://langfuse\x00.example.com",
        "https://" + "x" * 70000,
    ],
)
def test_an_address_that_would_show_the_keys_is_refused(address: str) -> None:
    with pytest.raises(Refusal) as refused:
        Server(Connection(address, "pk", "sk"), lambda _: None)
    assert refused.value.problems[0].code == "UNSAFE_ADDRESS"


@pytest.mark.parametrize(
    "address",
    [
        "https://cloud.langfuse.com",
        "https://h/langfuse",
        "http://localhost:3000",
        "http://127.0.0.9",
        "http://[::1]:3000",
    ],
)
def test_https_and_this_machine_are_safe(address: str) -> None:
    require_safe(Connection(address, "pk", "sk"))


def test_a_host_that_cannot_be_looked_up_gives_no_answer() -> None:
    server = Server(Connection(f"https://{'x' * 70}.example.com", "pk", "sk"), lambda _: None)
    with pytest.raises(Refusal) as refused:
        server.datasets(1)
    server.close()
    assert refused.value.problems[0].code == "NO_ANSWER"


def test_plain_http_elsewhere_needs_the_word() -> None:
    require_safe(Connection("http://langfuse-web:3000", "pk", "sk", insecure_http=True))


def test_no_key_stands_in_a_representation() -> None:
    assert "secret" not in repr(Connection("https://h", "public", "secret"))
    assert "public'" not in repr(Connection("https://h", "public", "secret"))


def test_no_key_stands_in_a_page(lab: Any, store: Any, fetched: Any) -> None:
    for key in keys(lab):
        store.dataset_items[0]["input"] = {**store.dataset_items[0]["input"], key: f"it is {key}"}
        store.observations[0]["input"] = key
    run = fetched()
    for name, data in run.files:
        for key in keys(lab):
            assert key.encode() not in data, name
    assert b"[key removed]" in b"".join(data for _, data in run.files)


def test_no_key_stands_in_an_error(lab: Any, langfuse: Any, fetched: Any) -> None:
    told = " ".join(keys(lab))
    for fault in (
        lab.error(400, {"message": told}),
        lab.error(418, told, headers={"X-Key": told}),
        lab.error(200, told),
    ):
        langfuse.faults = [fault]
        with pytest.raises(Refusal) as refused:
            fetched("policy A")
        written = "".join(traceback.format_exception(refused.value)) + repr(refused.value.problems)
        for key in keys(lab):
            assert key not in written


def test_headers_of_an_error_are_not_told(lab: Any, langfuse: Any, fetched: Any) -> None:
    langfuse.faults = [lab.error(403, headers={"Set-Cookie": "session=abc"})]
    with pytest.raises(Refusal) as refused:
        fetched("policy A")
    assert "session" not in "".join(traceback.format_exception(refused.value))


def test_wrong_keys_are_refused_without_being_said(lab: Any, langfuse: Any, opened: Any, fetched: Any) -> None:
    with pytest.raises(Refusal) as refused:
        fetched("policy A", server=opened(secret_key="sk-lf-wrong"))  # noqa: S106 - of the test
    [problem] = refused.value.problems
    assert (problem.code, problem.message) == (
        "ANSWERED_WITH_ERROR",
        "the server answered 401 Unauthorized: Invalid credentials.",
    )


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int, lab: Any, store: Any, langfuse: Any, fetched: Any) -> None:
    with lab.Langfuse(store) as elsewhere:
        langfuse.faults = [lab.error(status, "", headers={"Location": f"{elsewhere.address}/api/public/experiments"})]
        with pytest.raises(Refusal) as refused:
            fetched("policy A")
        assert elsewhere.requests == []
    assert refused.value.problems[0].message.startswith(f"the server answered {status}")
    assert elsewhere.address not in repr(refused.value.problems)


def test_a_cursor_that_is_an_address_is_only_a_cursor(lab: Any, store: Any, langfuse: Any, fetched: Any) -> None:
    with lab.Langfuse(store) as elsewhere:
        langfuse.faults = [
            lab.on("experiment-items", lab.once(lambda _, page: page["meta"].update(cursor=f"{elsewhere.address}/x"))),
            lab.on("experiment-items", lambda request, _: "cursor" in request.query and stop(lab)),
        ]
        with pytest.raises(Refusal):
            fetched("policy A")
        assert elsewhere.requests == []


def stop(lab: Any) -> None:
    raise lab.Answer(400, {"message": "bad cursor"})


def test_a_certificate_that_does_not_verify_is_refused(tmp_path: Any, lab: Any) -> None:
    """A server with TLS whose certificate nobody signed, as between us and a host that somebody took over."""
    import ssl
    import subprocess
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*made, "-keyout", tmp_path / "key", "-out", tmp_path / "crt"], check=True, capture_output=True)
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    http = HTTPServer(("127.0.0.1", 0), Handler)
    http.handle_error = lambda *_: None  # type: ignore[method-assign] # the handshake fails, as it must
    http.socket = context.wrap_socket(http.socket, server_side=True)
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    server = Server(Connection(f"https://127.0.0.1:{http.server_port}", "pk", "sk"), lambda _: None)
    with pytest.raises(Refusal) as refused:
        server.datasets(1)
    server.close()
    http.shutdown()
    http.server_close()
    assert refused.value.problems[0].code == "NO_ANSWER"
    assert seen == []


def test_a_proxy_of_the_environment_with_a_password_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://user:hunter2@proxy.example.com:1")
    with pytest.raises(Refusal) as refused:
        Server(Connection("https://h", "pk", "sk"), lambda _: None)
    assert refused.value.problems[0].code == "UNSAFE_ADDRESS"
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("httpx", "langfuse", "langfuse.api"):
        monkeypatch.setitem(sys.modules, module, None)  # what Python itself does for a module that must not be found
    with pytest.raises(Refusal) as refused:
        Server(Connection("https://h", "pk", "sk"), lambda _: None)
    [problem] = refused.value.problems
    assert (problem.code, problem.hint) == ("MISSING_EXTRA", "pip install 'labadapt[langfuse]'")
