"""Column files: what is read, and what is said of files that are wrong."""

import gzip
import io

import pytest

from maxmargin.formats import FileFormatError, read_columns

TEXT = b"The DT B-NP\ncat NN I-NP\n\n\nHi UH O\n"
SENTENCES = [[("The", "DT", "B-NP"), ("cat", "NN", "I-NP")], [("Hi", "UH", "O")]]


def read(text, **how):
    return read_columns(io.BytesIO(text), **how)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + TEXT,
        gzip.compress(TEXT, mtime=0),
        TEXT.rstrip(),
        b"\n \n" + TEXT + b"\n\n \t\n",
        TEXT.replace(b" ", b"\t"),
        TEXT.replace(b" ", b"   "),
        b"-DOCSTART- -X- O\n\n" + TEXT,
        TEXT.replace(b"\n\n\n", b"\n-DOCSTART-\n"),
    ],
)
def test_the_same_sentences_however_they_are_written(text):
    assert list(read(text)) == SENTENCES


def test_a_file_by_its_name(tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(TEXT, mtime=0))
    assert list(read_columns(path)) == list(read_columns(str(path))) == SENTENCES


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT, mtime=0))))
    assert list(read_columns("-")) == SENTENCES


def test_a_word_may_hold_any_letter_that_is_no_ascii_space():
    word = "a\u00a0b\u2028c\x85"
    assert read(f"{word} O\n".encode())[0] == [(word, "O")]
    assert read(b"New York\tB-LOC\n")[0] == [("New York", "B-LOC")]


def test_lines_that_start_with_a_sign_are_tokens_unless_told_otherwise():
    text = b"# # O\n# 1 2\nthe DT O\n"
    assert read(text)[0][0] == ("#", "#", "O")
    told = read(text, comments=True)
    assert list(told) == [[("the", "DT", "O")]]
    assert told.asides == ((0, "# # O"), (0, "# 1 2"))


def test_labels_are_the_last_column():
    rest, labels = read(TEXT).split_labels()
    assert [one.tolist() for one in labels] == [["B-NP", "I-NP"], ["O"]]
    assert rest[1] == [("Hi", "UH")]


def test_blocks_of_lines_are_put_together(monkeypatch):
    text = b"".join(b"word%d X O\n" % i + b"\n" * (i % 7 == 0) for i in range(500))
    whole = list(read(text))
    monkeypatch.setattr("maxmargin.formats.source.BLOCK_BYTES", 13)
    assert list(read(text)) == whole
    assert sum(map(len, whole)) == 500


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "file: no sentence: the file is empty, or holds blank lines only"),
        (b"\n \n\t\n", "file: no sentence: the file is empty, or holds blank lines only"),
        (b"a b\n\nc\n", "file, line 3: 1 column, but line 1 has 2"),
        (b"\na b\nc d\nc d e\nf\n", "file, line 4: 3 columns, but line 2 has 2"),
        (b"a\tb\nc\t\n", "file, line 2: the last column is empty"),
        (b"a b\nc d\n\n\xff d\n", "file, line 4: the byte 0xff is not UTF-8"),
        (b"a b\nc\0 d\n", "file, line 2: a zero byte: this is no text file"),
        ("a b\n".encode("utf-16"), "file, line 1: the text is UTF-16"),
        (gzip.compress(TEXT, mtime=0)[:-9], "file: the compressed data is damaged"),
        (b"PK\x03\x04", "file: a zip archive or a model file"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(text, problem):
    with pytest.raises(FileFormatError) as refused:
        read(text)
    assert str(refused.value).startswith(problem)


def test_the_number_of_columns_may_be_asked_for():
    with pytest.raises(FileFormatError, match="line 1: 3 columns, but 1 or 2 expected"):
        read(TEXT, n_columns=(1, 2))
    assert len(read(TEXT, n_columns=(2, 3))) == 2
