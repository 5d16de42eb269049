"""How fast the finder is: ``python -m tests.browser.measure_finder SITE [QUESTION ...]``.

Opens the traces page of a built site from its folder and over http in headless Chromium, and
prints the time to the first list of games, and from a question to its answer and to the
sentences, each with nothing loaded before.
"""

import functools
import http.server
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.tabs import ARGUMENTS, CHROMIUM

QUESTIONS = ("divorce", "would be easy", "slot", "chemotherapy at sl", "zzzz")

TRIES = 5

LIST_MS = """() => new Promise(done => {
  const look = () => document.querySelector("[data-found]")
    ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 1);
  look();
})"""

ANSWER_MS = """question => new Promise(done => {
  const input = document.querySelector("#cb-words");
  const finder = document.querySelector("[data-found]");
  const start = performance.now();
  const took = [];
  const look = () => {
    if (!took.length && finder.dataset.state === "q=" + question) {
      took.push(performance.now() - start);
    }
    const hits = document.querySelectorAll(".cb-hits");
    const isThere = took.length && Array.from(hits).every(hit => hit.querySelector("li"));
    if (!isThere) { setTimeout(look, 1); return; }
    took.push(performance.now() - start);
    done([...took, document.querySelector(".cb-count").textContent]);
  };
  input.value = question;
  input.dispatchEvent(new Event("input"));
  look();
})"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}/"
        httpd.shutdown()


def measure(page: Page, address: str, questions: tuple[str, ...]) -> None:
    def opened() -> float:
        page.goto("about:blank")
        page.goto(f"{address}traces.html")
        took: float = page.evaluate(LIST_MS)
        return took

    print(
        f"{address.partition(':')[0]}: first list after {middle(opened() for _ in range(TRIES))} ms"
    )
    for question in questions:
        answers, sentences, said = [], [], ""
        for _ in range(TRIES):
            opened()
            answer, sentence, said = page.evaluate(ANSWER_MS, question)
            answers.append(answer)
            sentences.append(sentence)
        print(
            f"  {question!r}: {said}; answer {middle(answers)} ms, sentences {middle(sentences)} ms"
        )


def middle(times: Any) -> str:
    found = sorted(times)
    return f"{statistics.median(found):.0f} ({found[0]:.0f} to {found[-1]:.0f})"


def main(folder: Path, questions: tuple[str, ...]) -> None:
    with sync_playwright() as driver, served(folder) as address:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for base in (f"{folder.resolve().as_uri()}/", address):
            measure(browser.new_page(), base, questions)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or QUESTIONS)
