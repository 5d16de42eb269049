"""A worker on another machine runs the same code: every file of the package counts."""

from pathlib import Path

from calbench.code import PACKAGE, code_digest


def copy_of(folder: Path, name: str, text: str) -> str:
    (folder / "below").mkdir(parents=True)
    (folder / "below" / name).write_text(text)
    return code_digest(folder)


def test_any_edit_and_any_name_counts(tmp_path: Path) -> None:
    files = [("one.py", "x = 1"), ("one.py", "x = 2"), ("two.py", "x = 2"), ("weights.json", "{}")]
    digests = [copy_of(tmp_path / str(n), *file) for n, file in enumerate(files)]
    assert len(set(digests)) == len(files)
    (tmp_path / "0" / "below" / "one.pyc").write_text("made of one.py")
    assert code_digest(tmp_path / "0") == digests[0]


def test_weights_word_lists_and_texts_are_files_of_the_package() -> None:
    kinds = {path.suffix for path in PACKAGE.rglob("*") if path.is_file()}
    assert {".py", ".md", ".txt", ".jinja"} <= kinds
