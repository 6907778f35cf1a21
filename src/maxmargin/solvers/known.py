"""The classes that states of runs are made of: all that a checkpoint may hold beside numbers and arrays."""

from __future__ import annotations

from ..persistence.states import Classes
from ..structures import custom, likelihood, listed, multilabel, smoothing, sparse_vector
from ..structures.factors import label_sets
from ..structures.factors import layout as factors
from ..structures.multiclass import expectations as of_classes
from ..structures.multiclass import layout as classes
from ..structures.pairwise import expectations as of_sites
from ..structures.pairwise import featured, labelings, pairs, sums
from ..structures.pairwise import layout as pairwise
from . import box, catalyst, driver, engine, few_weights, lbfgs, objective, result, tolerance
from .block_coordinate import lanes, working_set
from .cutting_plane import cuts
from .descent import rules
from .factorwise import settling
from .parts import averaging, gibbs_step, inner_steps, memory, samplers
from .path import path, runs, store
from .path import rules as lams
from .smoothing import pace, passes, sequences, solver

CLASSES = Classes(
    [
        # what all runs have
        driver.Snapshot,
        engine.State,
        samplers.Draws,
        objective.Bracket,
        objective.Certified,
        objective.DualPoint,
        objective.DualValue,
        result.Record,
        result.Status,
        box.Box,
        box.NoBox,
        # dual states
        classes.MulticlassBlocks,
        pairwise.PairwiseBlocks,
        pairs.Pairs,
        sums.Sums,
        featured.Tables,
        multilabel.MultilabelBlocks,
        likelihood.Blocks,
        custom.CustomBlocks,
        custom.Output,
        custom.Tilt,
        sparse_vector.SparseVector,
        listed.ListedBlocks,
        listed.Listing,
        working_set.Answers,
        of_classes.Tilts,
        of_classes.Interior,
        of_sites.Tilts,
        of_sites.Interior,
        factors.Factors,
        label_sets.PairLists,
        settling.Ease,
        # parts of the block loop
        lanes.Rhythm,
        averaging.NoAveraging,
        averaging.WeightedAveraging,
        memory.Memory,
        memory.NoMemory,
        labelings.Labelings,
        inner_steps.Distributions,
        inner_steps.Rates,
        gibbs_step.Approached,
        catalyst.Catalyst,
        catalyst.Extrapolation,
        catalyst.OneProblem,
        catalyst.ProximalSequence,
        few_weights.FewWeights,
        # other solvers
        cuts.Cuts,
        lbfgs.Place,
        lbfgs.Search,
        rules.Pegasos,
        rules.Decaying,
        rules.Mistakes,
        smoothing.EntropySmoothing,
        smoothing.L2Smoothing,
        smoothing.Unsmoothed,
        pace.Pace,
        passes.Seen,
        passes.Snapshot,
        sequences.Adaptive,
        sequences.Constant,
        sequences.OneProblem,
        sequences.ProximalProblems,
        solver.Accelerated,
        solver.Steady,
        # paths
        lams.ApproximatePath,
        lams.Grid,
        lams.PathEnd,
        lams.Step,
        path.Cost,
        path.Piece,
        path.Walk,
        runs.Solved,
        store.Place,
        store.WeightStore,
        tolerance.Absolute,
        tolerance.Relative,
    ],
    by_class={
        listed.Listing: (listed.Listing.taken, listed.Listing.made),
        store.WeightStore: (store.WeightStore.__getstate__, store.WeightStore.made),
    },
)
