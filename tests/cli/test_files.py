"""From files to models to predictions to scores, for every format."""

import gzip
import re

import pytest

import maxmargin
from maxmargin.formats import read_columns

from .runs import TEXTS, column_text, run

QUICK = ("--max-passes", "20", "--tol", "0.05", "--min-count", "1")
pytestmark = pytest.mark.usefixtures("no_compilation")


def options_for(name):
    return QUICK if name in ("columns", "crfsuite") else QUICK[:-2]


@pytest.fixture
def fitted(tmp_path):
    """A function: the model file of a format."""

    def fit(name, *options):
        train, model = tmp_path / f"{name}.txt", tmp_path / f"{name}.model"
        train.write_text(TEXTS[name])
        ran = run("fit", train, "-o", model, "--format", name, *options_for(name), *options)
        assert ran.code == 0, ran.err
        assert re.match(r"gap \S+: the objective is \S+, the optimum at least \S+ \(converged, ", ran.out)
        return model, train

    return fit


@pytest.mark.parametrize("name", TEXTS)
def test_a_model_predicts_what_it_learned(name, fitted):
    model, train = fitted(name)
    ran = run("predict", model, train)
    assert ran.code == 0, ran.err
    told = [line.split()[0] if line else "" for line in TEXTS[name].rstrip("\n").split("\n")]
    if name == "columns":
        told = [f"{line} {line.split()[-1]}" if line else "" for line in TEXTS[name].rstrip("\n").split("\n")]
    if name == "svmhmm":
        told = ["1", "2", "", "1", "2", "", "1"]
    if name == "multilabel":
        told = ["0,2", "1", "0", "2", "", "1,2"]
    assert ran.out.rstrip("\n").split("\n") == told


@pytest.mark.parametrize("name", TEXTS)
def test_evaluate_a_model(name, fitted):
    ran = run("evaluate", *fitted(name))
    assert ran.code == 0, ran.err
    assert "100.00%" in ran.out
    assert "precision" in ran.out


@pytest.mark.parametrize("name", ["columns", "crfsuite", "svmhmm"])
def test_crfs_have_probabilities(name, fitted):
    model, train = fitted(name, "--model", "crf")
    ran = run("predict", model, train, "--marginals")
    first = ran.out.split("\n")[0].replace("\t", " ").split()
    n_labels = len(maxmargin.load(model)[-1].classes_)
    assert sum(float(one.rpartition("/")[2]) for one in first[-n_labels:]) == pytest.approx(1.0, abs=1e-4)
    assert first[:-n_labels] == run("predict", model, train).out.split("\n")[0].split()


def test_top_labelings(fitted):
    model, train = fitted("columns")
    ran = run("predict", model, train, "--top-k", "2")
    blocks = ran.out.strip().split("\n\n")
    assert len(blocks) == 2 * 5
    heads = [block.split("\n")[0].split() for block in blocks]
    assert [head[:2] for head in heads[:2]] == [["#", "1"], ["#", "2"]]
    assert float(heads[0][2]) >= float(heads[1][2])
    best = run("predict", model, train).out
    assert blocks[0].split("\n")[1:] == best.split("\n\n")[0].split("\n")


def test_columns_without_labels_and_through_pipes(fitted):
    model, _ = fitted("columns")
    text = column_text(labels=False)
    ran = run("predict", model, given=gzip.compress(text.encode()))
    assert ran.out.split("\n")[:2] == ["the DT B-NP", "cat NN I-NP"]
    scored = run("evaluate", "-", given=run("predict", model, "-", given=column_text().encode()).out.encode())
    assert "all entities        100.00" in scored.out


def test_learn_from_a_pipe(tmp_path):
    ran = run("fit", "-", "-o", tmp_path / "model", *QUICK, "--quiet", given=column_text("\t").encode())
    assert (ran.code, ran.err) == (0, "")


def test_documents_and_comments_come_back(fitted, tmp_path):
    model, _ = fitted("columns")
    text = "-DOCSTART- -X- O\n\n# a comment\nthe DT\ncat NN\n\n"
    ran = run("predict", model, "--comments", given=text.encode())
    assert ran.out == "-DOCSTART- -X- O\n\n# a comment\nthe DT B-NP\ncat NN I-NP\n\n"


def test_tabs_stay_tabs(fitted):
    model, _ = fitted("columns")
    assert run("predict", model, given=b"the\tDT\n").out == "the\tDT\tB-NP\n\n"


def test_labels_and_words_that_training_has_not_seen(fitted):
    model, _ = fitted("columns")
    ran = run("evaluate", model, "-", given="Käse XX B-NEW\nthe DT B-NP\n".encode())
    assert ran.code == 0
    assert re.search(r"NEW +0.00 +0.00 +0.00 +1 +0 +0", ran.out)


def test_other_labels_than_chunks_have_scores_each():
    ran = run("evaluate", "-", given=b"a N N\nb V N\nc V V\n")
    assert "3 tokens, accuracy 66.67%" in ran.out
    assert re.search(r"V +100.00 +50.00 +66.67 +2 +1 +1", ran.out)


def test_template_files(tmp_path):
    train, template, model = tmp_path / "train", tmp_path / "template", tmp_path / "model"
    train.write_text(column_text())
    template.write_text("# words\nU00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\nB01:%x[0,1]\n")
    assert run("fit", train, "-o", model, "--template", template, *QUICK).code == 0
    assert "all entities        100.00" in run("evaluate", model, train).out
    assert "U01:_B-1/DT" in run("inspect", model, "--top", "50").out


def test_the_same_seed_the_same_model(tmp_path):
    train = tmp_path / "train"
    train.write_text(column_text())
    for name in ("one", "other"):
        run("fit", train, "-o", tmp_path / name, *QUICK, "--seed", "7")
    assert (maxmargin.load(tmp_path / "one")[-1].coef_ == maxmargin.load(tmp_path / "other")[-1].coef_).all()


def test_inspect(fitted):
    model, _ = fitted("columns")
    ran = run("inspect", model, "--top", "2", "--label", "B-VP")
    assert re.search(r"model +ChainSVM, for --format columns", ran.out)
    assert re.search(r"labels +3: B-NP B-VP I-NP", ran.out)
    assert re.search(r"gap +\S+: objective", ran.out)
    assert "likeliest transitions" in ran.out and "\nB-VP\n" in ran.out and "\nB-NP\n" not in ran.out
    refused = run("inspect", model, "--label", "B-XX")
    assert refused.code == 1 and "no label 'B-XX'; there are B-NP, B-VP, I-NP" in refused.err


def test_inspect_says_what_units_lam_is_of(fitted, tmp_path):
    model, train = fitted("columns")
    pipeline, (words, labels) = maxmargin.load(model), read_columns(train).split_labels()
    for lam, scale, said in ((1, None, "lam       1\n"), (0.5, True, "lam       0.5 (of scaled features)\n")):
        pipeline.set_params(model__lam=lam, model__scale=scale).fit(words, labels)
        maxmargin.persistence.save(pipeline, tmp_path / "scaled")
        assert said in run("inspect", tmp_path / "scaled").out


@pytest.mark.parametrize("name", ["svmlight", "multilabel", "svmhmm"])
def test_inspect_others(name, fitted):
    assert run("inspect", fitted(name)[0]).code == 0


@pytest.mark.parametrize("name", ["columns", "svmlight"])
def test_path(name, tmp_path):
    train, model, picture = tmp_path / "train", tmp_path / "model", tmp_path / "path.png"
    train.write_text(TEXTS[name])
    options = ["--format", name, "--eps", "0.5", "--lam-min", "0.05", "--quiet", "--plot", picture, "-o", model]
    ran = run("path", train, *options, "--dev", train)
    assert ran.code == 0, ran.err
    assert re.search(r"lam +gap +held-out\n", ran.out) and "  best\n" in ran.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("evaluate", model, train).code == 0
    assert run("path", train, *options[:-4], "--held-out", "0.4").code == 0


def test_cross_validation_and_plots(tmp_path):
    train = tmp_path / "train"
    train.write_text(column_text() * 3)
    ran = run("fit", train, "-o", tmp_path / "model", "--cv", "--plot", tmp_path / "gap", "--jobs", "2", *QUICK)
    assert ran.code == 0, ran.err
    assert maxmargin.load(tmp_path / "model")[-1].n_jobs is None  # who predicts says how many
    assert (tmp_path / "gap.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    train, kept, model = tmp_path / "train", tmp_path / "kept", tmp_path / "model"
    train.write_text(column_text() * 3)
    goal = ["--tol", "1e-6", "--min-count", "1", "--quiet"]
    keeping = ["--checkpoint", kept, "--checkpoint-every", "0"]
    assert run("fit", train, "-o", tmp_path / "whole", *goal, "--max-passes", "25").code == 0
    assert run("fit", train, "-o", model, *goal, *keeping, "--max-passes", "7").code == 0
    refused = run("fit", train, "-o", model, *goal, *keeping, "--max-passes", "25")
    assert refused.code == 2 and "is there already: give --resume" in refused.err
    ran = run("fit", train, "-o", model, *goal, *keeping, "--max-passes", "25", "--resume")
    assert ran.code == 0, ran.err
    whole, again = (maxmargin.load(tmp_path / name)[-1] for name in ("whole", "model"))
    assert (whole.coef_ == again.coef_).all() and whole.gap_ == again.gap_
    other = run("fit", train, "-o", model, *goal, *keeping, "--resume", "--lam", "0.5")
    assert other.code == 1 and other.err.count("\n") == 1 and "lam" in other.err


def test_a_model_of_files_is_a_pipeline(fitted):
    model, train = fitted("columns")
    words, labels = read_columns(train).split_labels()
    pipeline = maxmargin.load(model)
    assert [one.tolist() for one in pipeline.predict(words)] == [one.tolist() for one in labels]
