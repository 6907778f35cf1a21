"""What a solver may ask of a structure. Symbols: docs/notation.md.

A problem is ``min_w lam/2 |w|^2 + sum_i c_i max_y [L_i(y) + <w, phi_i(y)> - <w, phi_i(y_i)>]`` with ``c_i = s_i / S``
in ``problem.weight``. The dual state of all blocks, `blocks`, holds part marginals ``mu_i = sum_y alpha_i(y) mu(y)``
(or whatever stands for them), `work` the scratch of one thread: it knows the potentials of
block i and its loss-augmented argmax, the *corner*. Pairwise steps take mass from a second output, the *away corner*;
both may come from outputs remembered in `labelings`, the same number of slots a block. A block moves along a
*direction*: to the corner, from the away corner to the corner, or to an expectation (:mod:`.directions`).

Where a structure can sum over outputs, an *expectation* is that under ``alpha_i(y) ~ q_i(y) exp(eta value(y))``. What
q_i is, `base` knows: of `tilts`, ``q_i(y) ~ exp(<tilt_i, mu(y)>)``; of an `interior`, the distribution alpha_i itself;
of :class:`~.smoothing.Untilted`, 1.

Structures built in are NamedTuples with implementations registered for them; `structures.custom` serves a user's
own class.
"""

from __future__ import annotations

from .._compile import helper, implements, verb
from .._sums import dot
from .needs import Need


@verb
def n_blocks(problem):
    """Number of samples; as many as have weights."""


@implements(n_blocks, object)
def _(problem):
    return problem.weight.shape[0]


@verb
def dimension(problem):
    """Length of w."""


@verb
def inner(problem, u, v):
    """``<u, v>`` of two weight vectors; the plain product where a structure says nothing else."""


@implements(inner, object)
def _(problem, u, v):
    return dot(u, v)


@verb
def offers(problem):
    """What solvers may need and not every structure has, see :mod:`.needs`; by default bounds and decoding."""


@implements(offers, object)
def _(problem):
    return frozenset({Need.IN_MEMORY, Need.HINGE, Need.BOUNDS, Need.DECODING, Need.WEIGHTS})


@verb
def new_blocks(problem):
    """Dual state of all blocks, all mass on the true labelings."""


@verb
def new_totals(problem):
    """Like the dual state but zero everywhere, to add up weighted sums of it."""


@verb
def lacks_room(problem, blocks, i):
    """Whether block i must get room before it may go anywhere but to an expectation. By default it has all there is."""


@implements(lacks_room, object)
def _(problem, blocks, i):
    return False


@verb
def lacks_room_to_add(problem, totals, blocks, i):
    """Whether sums must get room before block i may be added. By default they have all there is."""


@implements(lacks_room_to_add, object)
def _(problem, totals, blocks, i):
    return False


@verb
def with_room(problem, blocks):
    """The blocks where none lacks room. For Python only, as those below."""


@verb
def with_room_to_add(problem, totals, blocks):
    """The sums to which any block may be added."""


@verb
def with_all_room(problem, blocks):
    """The blocks, or sums, with all the room that expectations need: any part may have mass there."""


@implements(with_room, object)
def _(problem, blocks):
    return blocks


@implements(with_room_to_add, object)
def _(problem, totals, blocks):
    return totals


@implements(with_all_room, object)
def _(problem, blocks):
    return blocks


@verb
def new_work(problem):
    """Scratch for one thread, and for one call of a kernel; for more of them, see :func:`forget_weights`."""


@verb
def forget_weights(problem, work):
    """What the scratch knows of weights may be wrong from now on; by default it knows nothing.

    A scratch follows the changes that the verbs make. Whoever changes weights himself says so, and who keeps a scratch
    between two kernels: weights may change there.
    """


@implements(forget_weights, object)
def _(problem, work):
    return None


@verb
def announce(problem, blocks, i):
    """Block i comes next: its memory may be fetched ahead. By default nothing is."""


@implements(announce, object)
def _(problem, blocks, i):
    return None


@verb
def announce_weights(problem, w, i):
    """Block i comes next, and w will be read where it has features; by default nothing is fetched ahead."""


@implements(announce_weights, object)
def _(problem, w, i):
    return None


@verb
def find_potentials_with(problem, work, w, i, emphasis):
    """Potentials of block i at w, augmented by `emphasis` times the losses; the verbs below speak of them.

    Where weights are a multiple of w, one over that factor finds the same outputs; 0 leaves the losses out.
    """


@helper
def find_potentials(problem, work, w, i):
    """Loss-augmented potentials of block i at w."""
    find_potentials_with(problem, work, w, i, 1.0)


@helper
def find_potentials_before(problem, work, w, i, following):
    """The same; the block that follows, if it is not negative, has its weights fetched meanwhile."""
    find_potentials(problem, work, w, i)
    if following >= 0:  # last, when its features have come
        announce_weights(problem, w, following)


@verb
def shift_potentials(problem, direction, blocks, work, i, gamma, scale):
    """Potentials at hand become those after a step that :func:`move` is about to take; by default they stay."""


@implements(shift_potentials, object)
def _(problem, direction, blocks, work, i, gamma, scale):
    return None


@verb
def renew_potentials(problem, work, w, i):
    """Find what of block i's potentials did not follow its last steps; by default all of them."""


@implements(renew_potentials, object)
def _(problem, work, w, i):
    find_potentials(problem, work, w, i)


@verb
def find_corner(problem, work, w, i):
    """The loss-augmented argmax becomes the corner; returns its value, ``max_y L_i(y) + <w, phi_i(y)>``."""


@verb
def upper_value(problem, work, w, i, value):
    """An upper bound on the maximum, of which :func:`find_corner` found `value`; that itself by default."""


@implements(upper_value, object)
def _(problem, work, w, i, value):
    return value


@verb
def unit_of_curvature(problem, hinges):
    """What is to be gained on the way that curvature is measured along, given the hinges at w = 0.

    By default 1: losses are their own unit.
    """


@implements(unit_of_curvature, object)
def _(problem, hinges):
    return 1.0


@verb
def truth_value(problem, work, w, i):
    """``<w, phi_i(y_i)>``, from the potentials at hand."""


@verb
def block_value(problem, blocks, work, w, i):
    """``sum_y alpha_i(y) [L_i(y) + <w, phi_i(y)>]``, from the potentials at hand."""


@verb
def measure(problem, direction, blocks, work, i):
    """``|D|^2`` in feature space, as `norm`, and what :func:`move` needs to know; see :mod:`.directions`."""


@verb
def move(problem, direction, measured, blocks, work, w, i, gamma, scale):
    """Step of length gamma along a direction D as it was measured; ``w -= scale gamma D``."""


@verb
def check_weights(problem, w):
    """Refuse weights under which the oracle is wrong; by default it never is."""


@implements(check_weights, object)
def _(problem, w):
    return None


@verb
def add_direction(problem, direction, blocks, work, i, scale, w):
    """``w += scale D``, and the block stays where it is."""


@verb
def settle_block(problem, expectation, blocks, i):
    """Block i becomes an expectation."""


@verb
def support_bound(problem):
    """How many ranges of weights the support of a block may have."""


@verb
def find_support(problem, i, support):
    """List the ranges of w that the values of block i depend on: begin and end of each, into the rows of `support`.

    A range may be listed twice, but begins nowhere else. Returns how many are listed. By default it is all of w.
    """


@implements(support_bound, object)
def _(problem):
    return 1


@implements(find_support, object)
def _(problem, i, support):
    support[0, 0], support[0, 1] = 0, dimension(problem)
    return 1


@verb
def argmax_cost(problem):
    """How much an argmax costs, in units of what a step costs without it: a remembered output saves that."""


@verb
def output_bound(problem):
    """An upper bound on the number of outputs of a block."""


@verb
def output_bytes(problem):
    """Memory of one remembered output a block, over all blocks; by default that of the room for one."""


@implements(output_bytes, object)
def _(problem):
    return bytes_of(new_labelings(problem, 1))


def bytes_of(part):
    """What the arrays of a part take, and of the parts within it."""
    return sum(map(bytes_of, part)) if isinstance(part, tuple) else getattr(part, "nbytes", 0)


@verb
def new_labelings(problem, capacity):
    """Room for `capacity` outputs a block; slot 0 holds the true one."""


@verb
def enlarged(problem, labelings, filled, capacity):
    """The outputs in the first ``filled[i]`` slots of each block i, with room for `capacity`."""


@verb
def announce_labelings(problem, labelings, i, filled):
    """Block i comes next: outputs in its first `filled` slots may be fetched ahead. By default none are."""


@implements(announce_labelings, object)
def _(problem, labelings, i, filled):
    return None


@verb
def keep_corner(problem, labelings, work, i, j):
    """Store the corner in slot j of block i."""


@verb
def take_corner(problem, labelings, work, i, j):
    """Slot j of block i becomes the corner."""


@verb
def take_away(problem, labelings, work, i, j):
    """Slot j of block i becomes the away corner."""


@verb
def is_corner(problem, labelings, work, i, j):
    """Whether slot j of block i holds the corner."""


@verb
def slot_value(problem, labelings, work, w, i, j):
    """``L_i(y) + <w, phi_i(y)>`` of slot j, from the potentials at hand."""


@verb
def accumulate(problem, totals, blocks, i, amount):
    """``totals_i += amount blocks_i``."""


@verb
def mean_loss(problem, blocks):
    """``b'alpha = sum_i c_i sum_y alpha_i(y) L_i(y)``; by default from the blocks' `loss`."""


@implements(mean_loss, object)
def _(problem, blocks):
    return dot(problem.weight, blocks.loss)


@verb
def corner_loss(problem, work, i):
    """``L_i(corner)``."""


@verb
def add_block(problem, blocks, work, i, scale, mass, w):
    """``w += scale (mass phi_i(y_i) - sum_y alpha_i(y) phi_i(y))`` where alpha_i sums to `mass`."""


@verb
def add_corner(problem, work, i, scale, w):
    """``w += scale (phi_i(y_i) - phi_i(corner))``."""


@verb
def new_tilts(problem):
    """Room for the tilts of all blocks."""


@verb
def new_interior(problem):
    """Room for the distributions of all blocks themselves, from which expectations may start as well as from tilts."""


@verb
def largest_loss(problem):
    """The mean over samples of the largest loss of an output, where structures have an interior: a unit of scores."""


@verb
def reweighs(problem):
    """Whether there is such an interior; by default there is. A structure that knows tilts only says no."""


@implements(reweighs, object)
def _(problem):
    return True


@verb
def new_expectation(problem):
    """Room for the expectation of a block."""


@verb
def find_entry(problem, base, blocks, expectation, work, w, i, odds):
    """The expectation that has the marginals of block i, but no part of an output less likely than ``exp(-odds)``.

    It becomes what the tilts or distributions, `base`, say of the block; marginals that hang together may be taken as
    if they did not, and a structure in plain Python begins near the truth again. Returns its value at the potentials at
    hand.
    """


@verb
def open_block(problem, base, expectation, work, w, i):
    """Block i is about to move: make room for its distribution, where that is made late. By default nothing is done."""


@implements(open_block, object)
def _(problem, base, expectation, work, w, i):
    return None


@verb
def find_expectation(problem, base, expectation, work, w, i, eta):
    """The expectation under what `base` says of block i, times ``exp(eta potentials)``; returns its value.

    That is at the potentials at hand. Where `base` is tilts or nothing, the log of the sum over outputs is left in
    ``expectation.log_sum[0]``.
    """


@verb
def find_between(problem, tilts, expectation, work, w, i, eta):
    """The expectation of which the tilt is ``(1 - eta) tilt_i + eta potentials``; as :func:`find_expectation`."""


@verb
def tilt_value(problem, expectation, i):
    """What the potentials are worth in the expectation that it is under: the log of the sum, less the entropy."""


@verb
def add_expectation(problem, expectation, work, i, scale, w):
    """``w += scale (phi_i(y_i) - E phi_i)``."""


@verb
def keep_expectation(problem, base, expectation, i, gamma):
    """`base` follows a step of length gamma to the expectation just found; tilts know whole steps only."""


@verb
def mix_corner(problem, base, work, i, gamma):
    """`base` follows a step of length gamma to the corner."""


@verb
def find_optimum(problem, blocks, expectation, work, i, scale):
    """The marginals at which block i alone is optimal become the expectation, from potentials and corner at hand.

    They maximise ``<theta, mu> - scale/2 |phi_i(mu) - E phi_i|^2``, where a step along D changes w by ``-scale D``.
    """
