"""Files converted piece by piece are what they are read at once; features and labels included."""

import numpy as np
import pytest
import scipy.sparse as sp

from cli.runs import ATTRIBUTES, SEQUENCES, column_text, run
from maxmargin import ChainSVM, DictEncoder, IndexEncoder, TemplateEncoder
from maxmargin.formats import FileFormatError, read_attributes, read_columns, read_svmhmm
from maxmargin.storage import (
    convert_attributes,
    convert_columns,
    convert_svmhmm,
    open_samples,
    write_samples,
)

from .cases import sequences

pytestmark = pytest.mark.usefixtures("no_compilation")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr("maxmargin.formats.source.PIECE_BYTES", 30)


def written(tmp_path, text, name="train.txt"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def same(samples, rows, y):
    assert np.array_equal(samples.rows((0, len(samples))).toarray(), sp.vstack(rows).toarray())
    labels = [label for one in y for label in one]
    assert samples.classes[samples.codes((0, len(samples)))].tolist() == labels


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("templates", ["full", "window", ["U:%x[-2,0]/%x[0,0]/%suffix2[1,1]"]])
def test_columns(tmp_path, templates, min_count):
    file = written(tmp_path, "-DOCSTART- -X- O\n\n" + column_text() + "\n-DOCSTART- -X- O\n\n" + column_text())
    convert_columns([file], tmp_path / "samples", templates=templates, min_count=min_count)
    samples, (X, y) = open_samples(tmp_path / "samples"), read_columns(file).split_labels()
    encoder = TemplateEncoder(templates, min_count=min_count)
    same(samples, encoder.fit_transform(X), y)
    assert samples.encoder.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


def test_keys_that_need_folds(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.features.attributes.LARGEST", 200)
    file = written(tmp_path, column_text())
    templates = ["U:%x[-1,0]/%x[0,0]/%x[1,0]/%x[0,1]"]
    convert_columns([file], tmp_path / "samples", templates=templates, min_count=1)
    X, y = read_columns(file).split_labels()
    same(open_samples(tmp_path / "samples"), TemplateEncoder(templates, min_count=1).fit_transform(X), y)


@pytest.mark.parametrize("more", ["", "B-NP\tw=the:2.5\tfirst\n\n"])
def test_attributes(tmp_path, more):
    file = written(tmp_path, ATTRIBUTES + "\n" + more)
    convert_attributes([file], tmp_path / "samples")
    samples, whole = open_samples(tmp_path / "samples"), read_attributes(file)
    encoder = DictEncoder()
    same(samples, encoder.fit_transform(whole.X), whole.y)
    assert samples.encoder.feature_names_ == encoder.feature_names_


def test_svmhmm(tmp_path):
    file = written(tmp_path, SEQUENCES)
    convert_svmhmm([file], tmp_path / "samples")
    samples, whole = open_samples(tmp_path / "samples"), read_svmhmm(file)
    encoder = IndexEncoder()
    same(samples, encoder.fit_transform(whole.X), whole.y)
    assert np.array_equal(samples.encoder.indices_, encoder.indices_)


def test_several_files_are_one_set(tmp_path):
    files = [written(tmp_path, ATTRIBUTES, f"{name}.txt") for name in "ab"]
    convert_attributes(files, tmp_path / "samples")
    assert len(open_samples(tmp_path / "samples")) == 6


@pytest.mark.parametrize(
    ("convert", "text", "message"),
    [
        (convert_columns, column_text() + "one two\n", r"2 columns, but.*3|2 columns, but 3 expected"),
        (convert_attributes, ATTRIBUTES + "\nO\tx:y\n", "no finite number"),
        (convert_svmhmm, SEQUENCES + "1 qid:1 1:1\n", "qid:1 again, which began in line 1"),
        (convert_svmhmm, SEQUENCES + "x qid:9 1:1\n", "not a number"),
        (convert_columns, "\n\n", "no sentence"),
    ],
)
def test_errors_name_the_line_and_leave_nothing(tmp_path, convert, text, message):
    file = written(tmp_path, text)
    with pytest.raises(FileFormatError, match=message) as caught:
        convert([file], tmp_path / "samples")
    last = len(text.splitlines())
    assert caught.value.args and (f"{last}" in str(caught.value) or "no sentence" in message)
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]


def test_features_of_transitions_are_refused(tmp_path):
    file = written(tmp_path, column_text())
    with pytest.raises(ValueError, match="begin with B"):
        convert_columns([file], tmp_path / "samples", templates=["U:%x[0,0]", "B:%x[0,0]"], min_count=1)
    with pytest.raises(ValueError, match="standard input can be read once"):
        convert_columns(["-"], tmp_path / "samples")


def test_batches_may_come_from_a_generator(tmp_path):
    X, y = sequences()
    write_samples(tmp_path / "samples", (([x], [labels]) for x, labels in zip(X, y, strict=True)))
    assert np.array_equal(open_samples(tmp_path / "samples").rows((0, len(X))), np.concatenate(X))


@pytest.mark.parametrize(
    ("format", "text"), [("columns", column_text()), ("crfsuite", ATTRIBUTES), ("svmhmm", SEQUENCES)]
)
def test_from_the_shell(tmp_path, format, text):
    file, folder, model = written(tmp_path, text), tmp_path / "samples", tmp_path / "model.npz"
    done = run("convert", str(file), "-o", str(folder), "--format", format)
    assert done.code == 0 and "sequences" in done.err
    done = run("fit", str(folder), "-o", str(model), "--lam", "0.1", "--memory-limit", "10MB", "--quiet")
    assert done.code == 0 and "gap" in done.out, done.err
    other = tmp_path / "other.npz"
    assert run("fit", str(file), "-o", str(other), "--lam", "0.1", "--format", format, "--quiet").code == 0
    assert run("predict", str(model), str(file)).out == run("predict", str(other), str(file)).out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("convert", "train.txt", "-o", "train.txt"), "there already"),
        (("convert", "train.txt", "-o", "new", "--format", "svmlight"), "folders hold sequences"),
        (("fit", "samples", "-o", "model.npz", "--min-count", "3"), "--min-count is for convert"),
        (("fit", "samples", "-o", "model.npz", "--memory-limit", "lots"), "memory_limit must be"),
        (("fit", "plain", "-o", "model.npz"), "no encoder of files"),
        (("fit", ".", "-o", "model.npz"), "samples.json"),
    ],
)
def test_the_shell_says_what_is_wrong(tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, column_text())
    convert_columns([file], tmp_path / "samples")
    write_samples(tmp_path / "plain", [sequences()])
    done = run(*command)
    assert done.code in (1, 2) and message in done.err


def test_a_checkpoint_from_the_shell_goes_on(tmp_path):
    file, folder = written(tmp_path, column_text()), tmp_path / "samples"
    convert_columns([file], folder)
    options = ("--lam", "0.1", "--quiet", "--checkpoint", str(tmp_path / "run.npz"))
    assert run("fit", str(folder), "-o", str(tmp_path / "a.npz"), "--max-passes", "2", *options).code == 0
    assert run("fit", str(folder), "-o", str(tmp_path / "b.npz"), "--resume", *options).code == 0
    whole = ChainSVM(lam=0.1, random_state=0).fit(open_samples(folder))
    import maxmargin

    assert maxmargin.load(tmp_path / "b.npz").steps[1][1].gap_ == whole.gap_
