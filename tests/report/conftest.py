"""The browser in which reports are opened."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="session")
def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium is installed, so the report is not opened in a browser (apt-get install chromium)")
