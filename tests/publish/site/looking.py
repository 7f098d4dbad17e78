"""What a browser says about a page of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.report.browser import Browser

__all__ = ["FIRST_SCREEN", "WIDTHS", "outside"]

WIDTHS: Final = (360, 390, 640, 800, 1024, 1280, 1920)
"""From a small phone to a large screen, in pixels."""
FIRST_SCREEN: Final = 800
"""The height of the first screen, at a width of 1280."""

_OUTSIDE: Final = """(() => {
  const wide = document.documentElement.clientWidth;
  const framed = (one) => {
    for (let up = one.parentElement; up && up !== document.body; up = up.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  return [...document.body.querySelectorAll("*")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > wide + 1 && !framed(one))
    .map((one) => `${one.tagName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`);
})()"""


def outside(browser: Browser, page: Path, width: int) -> list[str]:
    """The elements that reach beyond the page at the right, with everything open; in a frame that scrolls none does."""
    browser.open(page, width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = browser.evaluate(_OUTSIDE)
    assert isinstance(found, list)
    return found
