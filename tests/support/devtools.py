"""A headless Chromium that is controlled through a pipe: pages at any width, in light or dark, and what they request.

Messages are JSON texts that end with a zero byte (Chrome DevTools Protocol, ``--remote-debugging-pipe``).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOADING_TIME = 60.0  # s, at most
CONSOLE_EVENTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")


@dataclass(eq=False)
class Tab:
    """One page of a browser; ``console`` are its messages and ``requested`` the addresses that it requested."""

    commands: int
    answers: int
    session: str = ""
    count: int = 0
    rest: bytes = b""
    console: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, path: Path, *, width: int = 1300, dark: bool = False) -> None:
        """Open a page and wait until its plots are drawn."""
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        self.console.clear()
        self.requested.clear()
        self.call("Page.navigate", url=path.as_uri())
        end = time.monotonic() + LOADING_TIME
        done = "document.readyState === 'complete' && !document.querySelector('.plot > .wait')"
        while not self.evaluate(done):
            assert time.monotonic() < end, f"{path} is still loading"
            time.sleep(0.1)

    def take_picture(self, path: Path) -> Path:
        """Write a picture of the whole page as PNG."""
        width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 16)
            assert part, "the browser has ended"
            self.rest += part
        text, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if message.get("method") in CONSOLE_EVENTS:
            self.console.append(json.dumps(message["params"])[:4000])
        elif message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        return message


@contextmanager
def open_browser(chromium: str, folder: Path) -> Iterator[Tab]:
    """Start a browser with a profile in a folder, and yield its page."""
    (read_commands, commands), (answers, write_answers) = os.pipe(), os.pipe()
    program = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    program += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # no request leaves this machine
    program += [f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe", "about:blank"]

    def take_descriptors() -> None:  # the browser reads from descriptor 3 and writes to 4
        first, second = os.dup(read_commands), os.dup(write_answers)
        os.dup2(first, 3)
        os.dup2(second, 4)

    running = subprocess.Popen(
        program, preexec_fn=take_descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        tab = Tab(commands, answers)
        (target,) = [each for each in tab.call("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        tab.session = tab.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        yield tab
    finally:
        running.kill()
        running.wait()
        os.close(commands)
        os.close(answers)
