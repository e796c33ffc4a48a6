"""Reports opened in a browser."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

EVIL = "<script>alert(1)</script>"


LOADS = ("src", "href", "srcset", "data", "action", "poster")


class Page(HTMLParser):
    """Tags, the texts in them and what they would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.styles = self.text = ""
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = [tag]

    def handle_endtag(self, _: str) -> None:
        self._inside = []

    def handle_data(self, data: str) -> None:
        if self._inside == ["script"]:
            given = self.tags[-1][1]
            self.scripts[given.get("id") or given.get("data-plot") or "code"] = data
        elif self._inside == ["style"]:
            self.styles += data
        else:
            self.text += data

    @property
    def parameters(self) -> list[str]:
        return [given["data-parameter"] or "" for _, given in self.tags if "data-parameter" in given]


def remove_policy(html: str) -> str:
    """Return a page whose scripts can be changed: without its content security policy."""
    return re.sub(r"<meta http-equiv[^>]*>", "", html)


def open_page(chromium: str, path: Path) -> tuple[str, list[str]]:
    """The page once its scripts have run, and what the console was told."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    rules = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # no request leaves this machine
    command += [f"--user-data-dir={path.parent / 'profile'}", f"--host-resolver-rules={rules}"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def drawn_plots(dom: str) -> list[str]:
    """Return the ids of the plots that the browser has drawn."""
    return [given["id"] or "" for _, given in Page(dom).tags if "js-plotly-plot" in (given.get("class") or "")]
