"""Fits on a Dask cluster: the same as in one place, from all kinds of collections, whatever happens to workers."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from maxmargin import ChainCRF, ChainSVM, GraphSVM, MulticlassSVM, TreeSVM, distributed, formats, load
from maxmargin.distributed import PartitionFiles, Rounds
from maxmargin.distributed.samples import is_spread

dask = pytest.importorskip("dask", reason="needs the extra `distributed`")
bag = pytest.importorskip("dask.bag")
cluster_of = pytest.importorskip("distributed")
Client, LocalCluster = cluster_of.Client, cluster_of.LocalCluster

pytestmark = pytest.mark.usefixtures("no_compilation")

RNG = np.random.default_rng(0)
X_TRAIN, X_TEST = ([RNG.normal(size=(3, 2)) for _ in range(n)] for n in (12, 4))
Y_TRAIN = [np.where(x[:, 0] + RNG.normal(scale=0.3, size=3) > 0, "up", "down") for x in X_TRAIN]
OPTIONS = {"lam": 1.0, "tol": 1e-2, "random_state": 0, "max_passes": 200}


def bags(X=X_TRAIN, y=Y_TRAIN, npartitions=3):
    return bag.from_sequence(X, npartitions=npartitions), bag.from_sequence(y, npartitions=npartitions)


def alone(**options):
    return ChainSVM(**{**OPTIONS, **options}).fit(X_TRAIN, Y_TRAIN)


def check_same_optimum(model, other):
    assert model.status_ == other.status_ == "converged"
    assert model.dual_ - 1e-9 <= other.primal_ and other.dual_ - 1e-9 <= model.primal_
    assert model.lam_ == pytest.approx(other.lam_)


def test_a_bag_is_learned_from(client, tmp_path):
    model = ChainSVM(**OPTIONS).fit(*bags())
    check_same_optimum(model, alone())
    assert isinstance(model.solver_, Rounds) and model.history_["rounds"][-1] > 1
    predicted = model.predict(X_TEST)
    assert [labels.shape for labels in predicted] == [(3,)] * 4
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert all(map(np.array_equal, again.predict(X_TEST), predicted))


@pytest.mark.parametrize("options", [{"lam": None}, {"scale": True, "class_weight": "balanced"}])
def test_units_and_weights_of_classes_are_those_of_all_partitions(client, options):
    options = {"max_passes": 2, **options}
    with pytest.warns(UserWarning, match="stopped after"):
        model = ChainSVM(**{**OPTIONS, **options}).fit(*bags(npartitions=4))
    with pytest.warns(UserWarning, match="stopped after"):
        other = alone(**options)
    assert model.lam_ == pytest.approx(other.lam_)
    assert model.scaling_.features == pytest.approx(other.scaling_.features)
    assert model.scaling_.loss == pytest.approx(other.scaling_.loss)
    np.testing.assert_allclose(model.scaling_.center, other.scaling_.center)
    # with all weights 0 both have the same objective
    assert model.history_["primal"][0] == pytest.approx(other.history_["primal"][0])


def test_partitions_agree_on_labels_and_features(client):
    X = [[{"w": "a"}, {"w": "b", "n": 1.0}], [{"w": "c"}], [{"w": "d"}, {"w": "a"}], [{"w": "b"}]]
    y = [["x", "y"], ["z"], ["q", "x"], ["y"]]
    model = ChainSVM(**OPTIONS).fit(*bags(X, y, 2))
    other = ChainSVM(**OPTIONS).fit(X, y)
    check_same_optimum(model, other)
    assert model.classes_.tolist() == other.classes_.tolist() == ["q", "x", "y", "z"]
    assert model.vectorizer_.feature_names_ == other.vectorizer_.feature_names_
    assert model.coef_.shape == other.coef_.shape


def test_weights_of_samples(client):
    weight = np.arange(1.0, 13.0)
    model = ChainSVM(**OPTIONS).fit(*bags(), sample_weight=bag.from_sequence(weight.tolist(), npartitions=3))
    check_same_optimum(model, ChainSVM(**OPTIONS).fit(X_TRAIN, Y_TRAIN, sample_weight=weight))


def test_arrays_delayed_values_and_futures(client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3
    array = pytest.importorskip("dask.array")
    other = MulticlassSVM(**OPTIONS, class_weight="balanced").fit(X, y)
    model = MulticlassSVM(**OPTIONS, class_weight="balanced").fit(
        array.from_array(X, chunks=(5, 2)), array.from_array(y, chunks=5)
    )
    check_same_optimum(model, other)
    halves = [slice(0, 9), slice(9, 20)]
    delayed = [[dask.delayed(one[half]) for half in halves] for one in (X, y)]
    check_same_optimum(MulticlassSVM(**OPTIONS).fit(*delayed), MulticlassSVM(**OPTIONS).fit(X, y))
    futures = [[client.scatter(one[half], hash=False) for half in halves] for one in (X, y)]
    check_same_optimum(MulticlassSVM(**OPTIONS).fit(*futures), MulticlassSVM(**OPTIONS).fit(X, y))


def test_files_are_read_by_the_workers(client, tmp_path):
    lines = "x\tw=a\ny\tw=b\n\nz\tw=c\n\n", "q\tw=d\nx\tw=a\n\n"
    paths = [tmp_path / f"{k}.txt" for k in range(2)]
    for path, text in zip(paths, lines, strict=True):
        path.write_text(text)
    model = ChainSVM(**OPTIONS).fit(PartitionFiles(paths, formats.read_attributes), None)
    files = [formats.read_attributes(path) for path in paths]
    other = ChainSVM(**OPTIONS).fit([x for file in files for x in file.X], [y for file in files for y in file.y])
    check_same_optimum(model, other)


def test_trees_and_graphs(client):
    rng = np.random.default_rng(1)
    trees = [(rng.normal(size=(3, 2)), np.array([-1, 0, 1])) for _ in range(6)]
    labels = [rng.integers(2, size=3) for _ in range(6)]
    check_same_optimum(TreeSVM(**OPTIONS).fit(*bags(trees, labels, 2)), TreeSVM(**OPTIONS).fit(trees, labels))
    graphs = [(x, np.array([[0, 1], [1, 2], [2, 0]])) for x, _ in trees]
    check_same_optimum(GraphSVM(**OPTIONS).fit(*bags(graphs, labels, 2)), GraphSVM(**OPTIONS).fit(graphs, labels))


def test_a_checkpoint_is_gone_on_from(client, tmp_path):
    options = {**OPTIONS, "tol": 1e-3, "checkpoint": tmp_path / "run.npz", "solver": Rounds(gap_every=2)}
    with pytest.warns(UserWarning, match="stopped after"):
        ChainSVM(**{**options, "max_passes": 3}).fit(*bags())
    model = ChainSVM(**options).fit(*bags())
    whole = ChainSVM(**{**options, "checkpoint": None}).fit(*bags())
    assert model.n_passes_ == whole.n_passes_ > 3
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-12)


def test_a_killed_worker_changes_nothing(client, monkeypatch):
    """At the second certificate a process dies; another one takes its place."""
    options = {**OPTIONS, "tol": 1e-3, "solver": Rounds(gap_every=2)}
    expected = ChainSVM(**options).fit(*bags())
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # for the processes of the cluster
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**local, processes=True) as cluster, Client(cluster):
        victims = [worker.pid for worker in cluster.workers.values()]
        seen = []

        def kill_one(record):
            seen.append(record.gap)
            if len(seen) == 2:
                os.kill(victims[0], signal.SIGKILL)

        model = ChainSVM(**options).set_callbacks(kill_one).fit(*bags())
    assert len(seen) > 2 and model.status_ == "converged"
    assert np.array_equal(model.coef_, expected.coef_) and model.dual_ == expected.dual_


def test_what_was_asked_long_ago_is_forgotten(client):
    """The scheduler does not know more tasks after many rounds than after few; and callbacks stay here."""
    known = []

    def count(record):
        known.append(len(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))))

    with pytest.warns(UserWarning, match="stopped after"):
        options = {**OPTIONS, "tol": 1e-9, "max_passes": 24, "solver": Rounds(gap_every=3)}
        ChainSVM(**options).set_callbacks(count).fit(*bags())
    assert max(known[-4:]) <= max(known[:4])


def test_refusals(client):
    X, y = bags()
    with pytest.raises(TypeError, match="ChainCRF does not learn on a cluster"):
        ChainCRF().fit(X, y)
    for model, words in {
        ChainSVM(lam="cv"): "give a number",
        ChainSVM(kernel="rbf"): "kernel=None",
        ChainSVM(solver="lbfgs"): "partitions take block steps",
    }.items():
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)
    with pytest.raises(ValueError, match=r"as many partitions.*'X': 3, 'y': 2"):
        ChainSVM().fit(X, bag.from_sequence(Y_TRAIN, npartitions=2))
    with pytest.raises(TypeError, match="y must lie in partitions as X does"):
        ChainSVM().fit(X, Y_TRAIN)
    with pytest.raises(ValueError, match="y is missing"):
        ChainSVM().fit(X, None)
    with pytest.raises(ValueError, match="must come from the files"):
        ChainSVM().fit(PartitionFiles(["a"], load), y)
    with pytest.raises(ValueError, match="sample 0"):  # what a worker says of bad samples reaches the user
        ChainSVM(lam=1.0).fit(bag.from_sequence([np.full((2, 2), np.nan)] * 2, npartitions=2), bags()[1].repartition(2))
    with pytest.raises(ValueError, match="same features in all partitions"):
        ChainSVM(lam=1.0).fit(*bags([np.ones((2, 2)), np.ones((2, 3))], [[0, 1], [0, 1]], 2))


def run_script(code, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, **options)


def test_nobody_imports_dask_who_did_not_ask_for_it():
    done = run_script(
        """
        import sys
        import numpy as np
        import maxmargin.distributed
        maxmargin.distributed.Rounds(), maxmargin.ChainSVM(), maxmargin.distributed.PartitionFiles(["a"], open)
        print(sorted({"dask", "distributed"} & set(sys.modules)))
        """
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[distributed\]'"):
        ChainSVM().fit(PartitionFiles(["a"], load), None)


def test_without_a_client_the_error_says_what_to_do():
    done = run_script(
        """
        from maxmargin import ChainSVM
        from maxmargin.distributed import PartitionFiles
        ChainSVM().fit(PartitionFiles(["a"], open), None)
        """
    )
    assert "there is no Dask client: make one before" in done.stderr


def test_lists_of_arrays_are_none_of_ours():
    assert not any(map(is_spread, ([np.zeros((2, 2))], np.zeros((2, 2)), [], None, ["a"], [[{"w": "a"}]])))
    assert is_spread(PartitionFiles(["a"], open)) and is_spread([dask.delayed(1)])
    assert distributed.__all__
