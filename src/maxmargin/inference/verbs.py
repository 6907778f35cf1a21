"""What can be asked of potentials over graphs. Functions of potentials: nothing here knows of weights or losses.

A *plan* knows the graphs of all samples and how to sum or maximise over their labelings; its type decides which code
runs. Plans of trees, junction trees, cuts and relaxations begin with the fields of `graphs.Graphs`:

- ``offsets`` (n + 1,): sample i has the nodes ``offsets[i]`` to ``offsets[i + 1]``; inside a sample they count from 0;
- ``label_offsets`` (N + 1,): node v, counted over all samples, has ``label_offsets[v + 1] - label_offsets[v]`` labels;
- ``edge_offsets`` (n + 1,), ``tail``, ``head`` (E,): the edges of all samples, their ends counted inside the sample;
- ``tables`` (E,): where the scores of an edge begin in `edge`, a row for each label of the tail, a column for each of
  the head. Edges with the same scores may share a table, also across samples.

A `ChainPlan` or `SparseChainPlan` has the offsets only: its edges and their one table go without saying. A `Bounded`
holds another plan.

The potentials of sample i are `node`, all label scores of its nodes one after the other, and `edge`, a flat array of
tables. Scores of -inf forbid. A *scratch* is the working memory of one thread.
"""

from __future__ import annotations

from .._compile import implements, verb


@verb
def new_scratch(plan, k):
    """Working memory of one thread, to ask for at most k labelings at a time."""


@verb
def change_score(scratch, table, a, b, amount):
    """``table[a, b] += amount``, of which a scratch may have to know; see :func:`forget_tables`."""


@implements(change_score, object)
def _(scratch, table, a, b, amount):
    table[a, b] += amount


@verb
def change_flat_score(scratch, scores, n_labels, pair, amount):
    """The same of a flat table, at ``pair = a K + b``."""


@implements(change_flat_score, object)
def _(scratch, scores, n_labels, pair, amount):
    scores[pair] += amount


@verb
def forget_tables(scratch):
    """What a scratch knows of tables of edge scores may be wrong from now on; by default it knows nothing.

    It must be said wherever scores change by other means than :func:`change_score` while a scratch is in use.
    """


@implements(forget_tables, object)
def _(scratch):
    return None


@verb
def find_best(plan, i, node, edge, scratch, labels):
    """Write the best labeling of sample i into `labels`, one a node; returns its score, -inf if all are forbidden."""


@verb
def argmax_work(plan):
    """What the best labelings of all samples cost, told from sizes, in units of a pair of labels on a chain.

    That is an addition and a comparison in a long loop, some 0.12 ns where it was measured; the other plans' units were
    measured beside it.
    """


@verb
def find_top(plan, i, node, edge, scratch, k, labels, values):
    """The k best labelings, distinct, best first, into the rows of `labels` and `values`; returns how many there are.

    Labelings of score -inf do not count.
    """


@verb
def find_max_marginals(plan, i, node, edge, scratch, out):
    """For every label of every node, in the layout of `node`, the score of the best labeling with that label there."""


@verb
def needs_submodular(plan):
    """Whether labelings are found only where edges do not favour labels that differ; by default any scores will do."""


@implements(needs_submodular, object)
def _(plan):
    return False


@verb
def can_sum(plan):
    """Whether a plan knows marginals. A plan that does says so."""


@verb
def is_tight(plan):
    """Whether marginals of sites and links that agree are those of labelings, all of which are allowed: in trees."""


@implements(is_tight, object)
def _(plan):
    return False


@implements(can_sum, object)
def _(plan):
    return False


@verb
def find_marginals(plan, i, node, edge, scratch, node_out, edge_out):
    """Probabilities of labels and of pairs under ``p(y) ~ exp(score(y))``; returns the log-partition function.

    `node_out` has the layout of `node`; `edge_out` holds one table for each edge of the sample, in their order, none
    shared. Where all labelings are forbidden -inf is returned and nothing is written.
    A plan that cannot sum over labelings raises a NotImplementedError, at both speeds.
    """


# A distribution over the labelings of a sample is kept as its *cliques*, the marginals it is made of: a flat array.
# Each clique is that of a node with those that it is summed out before, the row for the label of the node, so that
# the distribution is the product of the columns, each divided by its sum: conditional distributions of the nodes.
# Cliques are linear in the distribution, and a mixture is a mixture of them. Nothing has probability 0 for good:
FLOOR = 1e-30  # is added to every entry where it is read, since what has none can never get any


@verb
def clique_size(plan, i):
    """How many numbers the cliques of sample i are."""


@verb
def edges_first(plan):
    """Whether cliques begin with the tables of the edges, in their order, as `find_marginals` gives them."""


@verb
def mix_labeling(plan, i, labels, gamma, cliques):
    """A labeling gets the share gamma, and what was there keeps the rest."""


@verb
def find_reweighted(plan, i, cliques, node, edge, scratch, node_out, edge_out, cliques_out):
    """As `find_marginals` under ``p(y) ~ q(y) exp(score(y))``, q given by its cliques; those of p are written, too.

    Where cliques begin with the edges, `edge_out` is the beginning of `cliques_out`, and written with it.
    """
