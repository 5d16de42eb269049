"""Damaged reply stores: every damage is found, or changes nothing of what is read."""

import asyncio
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.errors import CalbenchError
from calbench.llm.replies.store import ReplyStore
from calbench.llm.replies.writer import ReplyWriter
from tests.conftest import Figures
from tests.effort import attacks
from tests.llm.asking import recorded

pytestmark = pytest.mark.heavy

PAGE, SECTOR = 4096, 512

GAMES, TURNS = 6, 14

PROGRESS = re.compile(r"(read|replies|written) \d+/\d+.*")

SPENT = GAMES * TURNS * 7
"""Nano-dollars in the ledger of the store."""


def flipped_bit(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def changed_bytes(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.randbytes(4) + data[place + 4 :]


def zeroed_sector(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data)) // SECTOR * SECTOR
    whole = data[:start] + bytes(SECTOR) + data[start + SECTOR :]
    return whole[: len(data)]


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.choice([chance.randrange(len(data)), len(data) // PAGE // 2 * PAGE])]


def swapped_pages(data: bytes, chance: random.Random) -> bytes:
    pages = [data[start : start + PAGE] for start in range(0, len(data), PAGE)]
    one, other = (chance.randrange(len(pages)) for _ in range(2))
    pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flipped_bit,
    flipped_bit,
    changed_bytes,
    zeroed_sector,
    truncated,
    swapped_pages,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a closed store, one as a killed process left it, and shards."""
    folder = tmp_path_factory.mktemp("whole")

    async def record() -> None:
        with ReplyStore.open(folder / "open.sqlite") as store, ReplyWriter(store) as writer:
            for game in range(GAMES):
                for turn in range(1, TURNS + 1):
                    texts = [f"game {game}: " + "slot 3 costs me an errand " * 9] * turn
                    entry = writer.reserve("openai/stub", 11)
                    writer.settle(entry, 7)
                    await writer.put(*recorded(*texts, reply=f"slot {turn} " * 20))
                if game == 2:  # the rest is in the log
                    await asyncio.to_thread(store._move_log, folder / "open.sqlite")
            for name in ("open.sqlite", "open.sqlite-wal", "open.sqlite-mark"):
                if (folder / name).exists():
                    shutil.copy(folder / name, folder / name.replace("open", "killed"))

    asyncio.run(record())
    assert answer(["replies", "export", f"{folder / 'open.sqlite'}", f"{folder / 'shards'}"]) == 0
    return folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def damage(whole: Path, scene: Path, chance: random.Random) -> tuple[Path, str]:
    """Copy a store or folder and damage one of its files; return it and what was done."""
    kind = chance.choice(["open", "killed", "killed", "shards"])
    if kind == "shards":
        store = scene / "shards"
        shutil.copytree(whole / "shards", store)
        victims = sorted(store.iterdir())
    else:
        store = scene / f"{kind}.sqlite"
        victims = [
            Path(shutil.copy(path, scene / path.name))
            for path in sorted(whole.glob(f"{kind}.sqlite*"))
            if not path.name.endswith("-shm")
        ]
    victim = chance.choice(victims)
    before, how = victim.read_bytes(), chance.choice(DAMAGES)
    after = how(before, chance)
    victim.write_bytes(after)
    ending = victim.suffix.partition("-")[2] if kind != "shards" else victim.name.partition("-")[0]
    return store, f"{how.__name__} in {kind} {ending or 'file'}"


def ledger_holds(store: Path) -> bool:
    """Tell whether money that was spent is known, or its damage found."""
    if store.is_dir():
        return True
    try:
        with ReplyStore.open(store) as opened:
            return opened.spent() == SPENT
    except CalbenchError:
        return True


def test_every_damage_is_found_or_changes_nothing(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], figures: Figures
) -> None:
    expected, came, wrong = bytes_of(whole / "shards"), Counter[str](), list[str]()
    for number in range(attacks(120)):
        scene = tmp_path / str(number)
        scene.mkdir()
        store, done = damage(whole, scene, random.Random(f"bit-damage-{number}"))
        out = scene / "out"
        capsys.readouterr()
        try:
            status = answer(["replies", "export", str(store), str(out)])
        except Exception as error:  # noqa: BLE001 - any traceback is a failure of the attack
            came["traceback"] += 1
            wrong.append(f"{number}: {done}: {error!r}")
            continue
        said = capsys.readouterr().err
        if status != 0:
            came["found"] += 1
            errors = [line for line in said.splitlines() if not PROGRESS.fullmatch(line)]
            if len(errors) != 1 or not errors[0].startswith("error: "):
                wrong.append(f"{number}: {done}: said {said!r}")
        elif bytes_of(out) == expected:
            came["harmless"] += 1
        else:
            came["accepted"] += 1
            wrong.append(f"{number}: {done}: exported other bytes")
        if not ledger_holds(store):
            came["ledger changed"] += 1
            wrong.append(f"{number}: {done}: the ledger has another sum")
        shutil.rmtree(scene)
    figures("damages of reply stores", came)
    assert not wrong, "\n".join(wrong)
