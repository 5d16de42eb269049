"""Asking again: a sample drawn by the id, of a server on the loopback that is the model or not."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.talk import STYLES
from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.errors import CalbenchError
from calbench.llm.completion import ChatMessage, Completion, Request, TokenLogprob
from calbench.llm.model import Endpoint
from calbench.runs.play import execute
from calbench.scenarios.storage import published_suite, write_suite
from calbench.submissions import again
from calbench.submissions.again import ANSWERS, REPORT, Report, ask_again, read_reports
from calbench.submissions.check import check
from calbench.submissions.prepare import prepare
from tests.cli.recording import spoken
from tests.cli.runs import files, keys_in
from tests.llm.stub_server import Answer, Asked, StubServer, chat, served
from tests.sharing import once, shared_folder
from tests.submissions.conftest import FEW
from tests.submissions.forging import SAID, said

pytestmark = pytest.mark.heavy

NAMED = ("model.name=stand-in", "model.max_attempts=1", "model.concurrency=1")

Reply = Callable[[str], str]


def honest(text: str) -> str:
    return text


def warm(text: str) -> str:
    """Answer as a model that is drawn from does: other words, about as many."""
    return text.replace("e", "a")


def talkative(text: str) -> str:
    """Answer as another model does, which says more."""
    return f"{text}\n{'I hope that this helps. ' * 20}"


class Model(StubServer):
    """Reads what it is asked, as a scripted speaker, and words its answers in its own way."""

    def __init__(self, reply: Reply = honest, name: str = "stand-in", most: int = 10**6) -> None:
        super().__init__()
        self.reply, self.name, self.most = reply, name, most

    def answer_to(self, asked: Asked) -> Answer:
        if len(self.asked) >= self.most:
            return Answer({"error": {"message": "no"}}, status=400)
        thread = [ChatMessage(each["role"], each["content"]) for each in asked.body["messages"]]
        text = self.reply(ScriptedSpeaker(STYLES["candid"], 0).reply(thread))
        return Answer({**chat(text), "model": self.name})


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a folder with submissions of a model at temperature 0, ``cold``, and at 0.7."""
    root = shared_folder(tmp_path_factory, worker_id, "again")

    def make() -> None:
        write_suite(suite := root / "suite.jsonl", published_suite("smollm2"))
        with served(server := Model()):
            for name, degrees in (("cold", "0"), ("warm", "0.7")):
                where = (f"model.api_base={server.url}", f"model.temperature={degrees}")
                rest = (f"suite.path={suite}", "subset=2", f"out={root / 'runs' / name}")
                execute(compose(["teams=[my-model]", *NAMED, *where, *rest, *FEW]))
                prepare(root / "runs" / name, root / name, SAID)

    once(root, make)
    return root


def asked(server: Model, folder: Path, out: Path, share: float = 0.5) -> Report:
    with served(server):
        return ask_again(folder, share, [*NAMED, f"model.api_base={server.url}"], out)


@pytest.mark.parametrize(
    ("name", "reply", "agrees", "criterion"),
    [
        ("cold", honest, True, "22 of 22 by exact text"),
        ("cold", warm, False, "0 of 22 by exact text"),
        ("cold", talkative, False, "0 of 22 by exact text"),
        ("warm", honest, True, "22 of 22 by length"),
        ("warm", warm, True, "22 of 22 by length"),
        ("warm", talkative, False, "0 of 22 by length"),
    ],
)
def test_the_model_agrees_and_another_does_not(
    name: str, reply: Reply, agrees: bool, criterion: str, handed_in: Path, tmp_path: Path
) -> None:
    report = asked(server := Model(reply), handed_in / name, tmp_path / "again")
    assert (report.agrees, criterion in str(report)) == (agrees, True), str(report)
    assert (report.sampled, report.replies, len(server.asked)) == (22, 44, 22)
    assert {each["temperature"] for each in server.asked} == {0 if name == "cold" else 0.7}
    assert read_reports(tmp_path) == {check(handed_in / name).id: report}


def test_model_that_says_that_it_is_another_differs(handed_in: Path, tmp_path: Path) -> None:
    report = asked(Model(name="small-model"), handed_in / "cold", tmp_path / "again")
    assert not report.agrees
    assert "22 by another model" in str(report)


def test_sample_is_drawn_by_the_id(handed_in: Path, tmp_path: Path) -> None:
    shutil.copytree(handed_in / "cold", tmp_path / "cold")
    drawn = []
    for number in range(3):
        if number == 2:
            said(tmp_path / "cold", contact="@eve")
        asked(Model(), tmp_path / "cold", tmp_path / str(number), share=0.25)
        drawn.append(keys_in(tmp_path / str(number) / ANSWERS))
    first, again, other = drawn
    assert first == again != other
    assert len(first) == len(other) == 11


def test_asking_resumes_with_what_came(handed_in: Path, tmp_path: Path) -> None:
    with pytest.raises(CalbenchError, match="the replies that came are kept"):
        asked(Model(most=5), handed_in / "cold", tmp_path / "again")
    assert not (tmp_path / "again" / REPORT).exists()
    assert len(keys_in(tmp_path / "again" / ANSWERS)) == 5
    report = asked(server := Model(), handed_in / "cold", tmp_path / "again")
    assert (report.agrees, len(server.asked)) == (True, 17)


def test_cap_on_money_holds(handed_in: Path, tmp_path: Path) -> None:
    with served(server := Model()):
        where = [*NAMED, f"model.api_base={server.url}", "budget.max_usd=0.01"]
        with pytest.raises(CalbenchError, match="stand-in has no price"):
            ask_again(handed_in / "cold", 0.5, where, tmp_path / "again")
    assert server.asked == []


@pytest.mark.parametrize(("logprob", "agrees"), [(-0.2, True), (-1.5, False)])
def test_log_probabilities_are_compared_where_both_have_them(
    logprob: float, agrees: bool, tmp_path: Path
) -> None:
    def with_logprobs(value: float) -> Callable[..., object]:
        async def ask(request: Request, _endpoint: Endpoint) -> Completion:
            reply = await spoken(request)
            tokens = tuple(TokenLogprob(each, value) for each in (reply.text or "").split())
            return replace(reply, logprobs=tokens) if request.logprobs else reply

        return ask

    write_suite(tmp_path / "suite.jsonl", published_suite("smollm2"))
    model = [*NAMED, "model.api_base=http://127.0.0.1:9/v1", "model.logprobs=true"]
    few = [f"suite.path={tmp_path / 'suite.jsonl'}", "subset=1", f"out={tmp_path / 'run'}", *FEW]
    execute(compose(["teams=[my-model]", *model, *few]), with_logprobs(-0.1))  # type: ignore[arg-type]
    prepare(tmp_path / "run", tmp_path / "mine", SAID)
    transport = with_logprobs(logprob)
    report = ask_again(tmp_path / "mine", 1.0, model, tmp_path / "again", transport)  # type: ignore[arg-type]
    by_name = {each.criterion: each for each in report.agreements}
    assert by_name["length"].holds
    assert by_name["log-probability"].pairs == 6
    assert report.agrees == by_name["log-probability"].holds == agrees


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["share=2"], "share: a number above 0 and up to 1, got '2'"),
        (["share=0"], "share: a number above 0 and up to 1"),
        (["model.name=other"], "other gave none of the replies in"),
    ],
)
def test_mistakes_are_named(
    words: Sequence[str], problem: str, handed_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert answer(["submit", "ask-again", str(handed_in / "cold"), *words]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "error: model: say which model: model.name=openai/NAME"),
        ([*NAMED, "model.timout=3"], "model.timout"),
        ([*NAMED, "model.timeout_s=-3"], "error: model: timeout_s: "),
        ([*NAMED, "replies.mode=live"], "keeps every reply"),
        ([*NAMED, "replies.path={run}/replies.sqlite"], "replies.path: replies that come are kept"),
        ([*NAMED, "out={run}"], "lies in the run or submission {run}; name another"),
        ([*NAMED, "out={run}/again"], "lies in the run or submission {run}"),
        ([*NAMED, "out={cold}"], "lies in the run or submission {cold}"),
        ([*NAMED, "out={cold}/again/1"], "lies in the run or submission {cold}"),
        ([*NAMED, "out={copied}"], "holds replies.sqlite; name a folder of its own"),
    ],
)
def test_what_a_run_recorded_is_no_answer_and_mistakes_are_named_before_any_check(
    words: Sequence[str],
    problem: str,
    handed_in: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(again, "check")  # which takes long
    cold, run = handed_in / "cold", handed_in / "runs" / "cold"
    shutil.copy(run / "replies.sqlite", tmp_path)
    before = [files(cold), files(run)]
    places = {"cold": cold, "run": run, "copied": tmp_path}
    given = [word.format(**places) for word in words]
    capsys.readouterr()
    assert answer(["submit", "ask-again", str(cold), *given]) == 2
    assert problem.format(**places) in capsys.readouterr().err
    assert [files(cold), files(run)] == before


def test_command_says_what_came_of_it_and_asks_nothing_of_what_is_refused(
    handed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(handed_in / "cold", tmp_path / "cold")
    with served(server := Model()):
        words = [*NAMED, f"model.api_base={server.url}", f"out={tmp_path / 'again'}"]
        assert answer(["submit", "ask-again", str(tmp_path / "cold"), "share=0.1", *words]) == 0
        told = capsys.readouterr().out
        assert "5 of 44 replies of openai/stand-in asked again: 5 have the same text" in told
        said(tmp_path / "cold", settings="0" * 64)
        assert answer(["submit", "ask-again", str(tmp_path / "cold"), "share=1", *words]) == 2
        server.reply = talkative
        words[-1] = f"out={tmp_path / 'other'}"
        assert answer(["submit", "ask-again", str(handed_in / "cold"), "share=0.1", *words]) == 1
    assert len(server.asked) == 10
