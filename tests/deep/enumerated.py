"""All labelings of a padded batch, one by one: the reference that inference is compared with."""

import itertools

import torch


def random_batch(kind, edges, seed=0, n_samples=4, n_nodes=4, n_labels=3, dtype=torch.float64):
    """Potentials, as arguments of the class: node, edge, and where they are."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, n_nodes + 1, (n_samples,), generator=generator)
    sizes[0] = n_nodes
    n_edges = n_nodes - (kind == "Chains")
    shape = {"shared": (), "each edge": (n_edges,), "each sample": (n_samples, 1), "each": (n_samples, n_edges)}[edges]
    node = torch.randn(n_samples, n_nodes, n_labels, dtype=dtype, generator=generator)
    edge = torch.randn(*shape, n_labels, n_labels, dtype=dtype, generator=generator)
    if kind == "Chains":
        return node, edge, sizes
    parents = torch.full((n_samples, n_nodes), -1)
    for b, size in enumerate(sizes.tolist()):
        order = torch.randperm(size, generator=generator).tolist()
        for at, v in enumerate(order[1:], start=1):
            if torch.rand((), generator=generator) < 0.8:
                parents[b, v] = order[int(torch.randint(at, (), generator=generator))]
    return node, edge, parents, sizes


def labelings(batch, b):
    """(M, N) all labelings of a sample, and their scores (M,), by the definition."""
    size, n_labels = int(batch.sizes[b]), batch.node.shape[2]
    found = list(itertools.product(range(n_labels), repeat=size))
    scores = torch.stack([score_of(batch, b, labels) for labels in found])
    return torch.tensor(found), scores


def score_of(batch, b, labels):
    n_samples, _, n_labels = batch.node.shape
    n_edges = max(batch.edge.shape[1], 1)
    edge = batch.edge.expand(n_samples, n_edges, n_labels, n_labels) if batch.edge.shape[1] else None
    total = batch.node.new_zeros(())
    for v, label in enumerate(labels):
        total = total + batch.node[b, v, label]
        parent = (v + 1 if v + 1 < len(labels) else -1) if batch.parents is None else int(batch.parents[b, v])
        if parent >= 0:
            total = total + edge[b, min(v, n_edges - 1), label, labels[parent]]
    return total
