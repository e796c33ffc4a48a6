"""The content security policy of the pages: a browser runs only their own scripts, and requests nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.browser import Page, drawn_plots, open_page, remove_policy
from ytheta.report.html_page import make_policy
from ytheta.report.prediction import prediction_html

# What a stranger could want to add: a script, a script in an attribute, an image of a server, a form.
INJECTED = """
<script>document.body.dataset.script = "ran"; fetch("ADDRESS/fetched")</script>
<img src="data:," onerror="document.body.dataset.attribute = 'ran'">
<img src="ADDRESS/image.png">
<link rel="stylesheet" href="ADDRESS/style.css">
<iframe src="ADDRESS/frame.html"></iframe>
"""


@pytest.fixture
def server() -> Iterator[tuple[str, set[str]]]:
    """The address of a server, and the paths that were requested from it."""
    requested: set[str] = set()

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.add(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}", requested
        finally:
            running.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    log = write_log(folder / "run.npz", true_arm(folder))
    return prediction_html(yt.predict("lu-two-link", log))


def test_the_policy_stands_before_everything_that_it_limits(html: str) -> None:
    tags = Page(html).tags
    policy = next(k for k, (_, given) in enumerate(tags) if given.get("http-equiv") == "Content-Security-Policy")
    assert [tag for tag, _ in tags[:policy]] == ["html", "head", "meta"]
    assert "default-src 'none'" in (tags[policy][1]["content"] or "")


def test_the_policy_contains_hashes_of_scripts() -> None:
    """The hash is that of the specification of W3C, Content Security Policy Level 3, section 2.3.1."""
    assert "script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=';" in make_policy("alert('Hello, world.');")


@pytest.mark.parametrize("protected", [True, False])
def test_injected_scripts_and_requests(
    protected: bool, html: str, chromium: str, server: tuple[str, set[str]], tmp_path: Path
) -> None:
    """Without the policy, which is the twin, they would run and be sent."""
    address, requested = server
    page = html.replace("</body>", INJECTED.replace("ADDRESS", address) + "</body>")
    if not protected:
        page = remove_policy(page)
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    dom, console = open_page(chromium, path)
    (body,) = [given for tag, given in Page(dom).tags if tag == "body"]
    assert drawn_plots(dom) == ["torque-1", "torque-2"]
    if protected:
        assert requested == set()
        assert body == {}
        assert any("Content Security Policy" in line for line in console)
    else:
        assert requested == {"/fetched", "/image.png", "/style.css", "/frame.html"}
        assert body == {"data-script": "ran", "data-attribute": "ran"}
