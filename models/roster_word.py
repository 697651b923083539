"""The arithmetic of the roster's 64-bit word, in bit-vectors: each operation changes only the fields that it should.

The layout's numbers are read from include/cohort/protocol/roster.hpp; its functions are written again here. Every
obligation is about an arbitrary word, so it holds for any order of arrivals and vetoes.
"""
import functools
import operator
import pathlib
import re

import z3

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include/cohort/protocol/roster.hpp"


def constants():
    """The `static constexpr` numbers of struct Roster, evaluated."""
    values = {}
    text = re.sub(r"//.*", "", HEADER.read_text())
    for name, expression in re.findall(r"static constexpr [\w:]+ (\w+) =\s*([^;]+);", text):
        expression = re.sub(r"std::uint64_t\{(\d+)\}", r"\1", expression)
        expression = re.sub(r"\b(\d+)U\b", r"\1", expression)
        if not re.fullmatch(r"[\w\s()<>+-]+", expression):
            raise ValueError(f"{HEADER.name}: {name} = {expression}: not understood")
        # The expression has numbers, names, shifts and sums.
        values[name] = eval(expression, {"__builtins__": {}}, values)
    return values


def bits(value):
    return z3.BitVecVal(value, 64)


class Word:
    """struct Roster, for a word and the header's numbers."""

    def __init__(self, word, layout):
        self.word, self.layout = word, layout
        self.__dict__.update({name: bits(value) for name, value in layout.items()})

    def of(self, word):
        return Word(word, self.layout)

    def active(self):
        return self.word & self.active_mask

    def arrived(self):
        return z3.LShR(self.word, self.arrived_shift) & (self.wrap - 1)

    def gen(self):
        return z3.LShR(self.word, self.gen_shift)

    def kind(self, gen):
        return z3.LShR(self.word, self.kind_shift + (gen & 1)) & 1

    def flags(self):
        return self.word & (self.gather | self.drain | self.fault)

    def biased(self):
        return z3.UGT(self.arrived(), bits(self.layout["wrap"] // 2))

    def self_flip(self, active):
        return (1 + self.wrap - active) << self.arrived_shift

    def bias(self, active):
        return (self.wrap - active) << self.arrived_shift

    def with_active(self, active):
        return self.of((self.word & ~self.active_mask) | active)

    def released(self, active):
        arrivals = self.arrived() << self.arrived_shift
        return self.of(self.word - arrivals + self.one_gen).with_active(active)

    def becomes(self, after, **fields):
        """Whether afterwards the given fields have these values and all other fields are unchanged."""
        gen = self.gen()
        old = dict(gen=gen, arrived=self.arrived(), active=self.active(), flags=self.flags(),
                   kind=self.kind(gen), other_kind=self.kind(gen + 1))
        new = dict(gen=after.gen(), arrived=after.arrived(), active=after.active(), flags=after.flags(),
                   kind=after.kind(gen), other_kind=after.kind(gen + 1))
        return z3.And(*[new[name] == fields.get(name, value) for name, value in old.items()])


def without(name):
    """The word's functions with a planted bug."""
    class Wrong(Word):
        def of(self, word):
            return Wrong(word, self.layout)
    if name == "bias_off_by_one":
        Wrong.self_flip = lambda self, active: (self.wrap - active) << self.arrived_shift
    if name == "veto_takes_the_arrival_too":
        Wrong.bias = Wrong.self_flip
    if name == "release_keeps_arrivals":
        Wrong.released = lambda self, active: self.of(self.word + self.one_gen).with_active(active)
    return Wrong


BUGS = {
    "bias_off_by_one": "group 0 adds 2^16 - M",
    "veto_takes_the_arrival_too": "a veto subtracts 1 + 2^16 - M",
    "release_keeps_arrivals": "a release does not zero the count",
    "arrived_of_12_bits": "4096 arrivals do not fit",
    "active_of_12_bits": "4096 active groups do not fit",
}


def narrowed(layout, bug):
    layout = dict(layout)
    if bug == "arrived_of_12_bits":
        shift = layout["arrived_shift"] + 12
        layout.update(wrap=1 << 12, gen_shift=shift, one_gen=1 << shift, gen_mask=(1 << (64 - shift)) - 1)
    if bug == "active_of_12_bits":
        layout["active_mask"] = (1 << 12) - 1
    return layout


def obligations(bug=None):
    """(name, hypotheses, goal)"""
    layout = narrowed(constants(), bug)
    make = without(bug) if bug else Word
    w = make(z3.BitVec("word", 64), layout)
    M, arrivals, other, kind, faulted, veto = (z3.BitVec(name, 64) for name in
                                               ("M", "arrivals", "other", "kind", "faulted", "veto"))
    limit, one = bits(layout["max_groups"]), w.one_arrival
    some = [z3.UGE(M, 1), z3.ULE(M, limit)]
    gen = w.gen()
    next_gen = (gen + 1) & w.gen_mask
    unbiased = some + [w.active() == M, z3.ULT(arrivals, M), w.arrived() == arrivals]
    bias = some + [w.active() == M, z3.UGE(arrivals, 1), z3.ULT(arrivals, M), w.arrived() == arrivals + w.wrap - M]
    fits = [z3.ULE(other, limit)]
    # Place: group 0 also announces its kind, by adding the difference to the kind in the word.
    announces = [z3.ULE(kind, 1)]
    announced = (kind - w.kind(gen)) << (w.kind_shift + (gen & 1))
    last = arrivals + 1 == M
    # A fault may be raised between the load and the addition.
    late = [z3.Or(faulted == 0, faulted == w.fault)]
    added = lambda target: w.of((w.word | faulted) + (target - w.word))
    flags = w.flags() | faulted

    masks = [layout["active_mask"], layout["gather"], layout["drain"], layout["fault"],
             3 << layout["kind_shift"], (layout["wrap"] - 1) << layout["arrived_shift"],
             layout["gen_mask"] << layout["gen_shift"]]
    together = functools.reduce(operator.or_, masks)
    yield "the fields share the word's 64 bits without overlap", [], z3.BoolVal(
        together == sum(masks) == (1 << 64) - 1)
    yield "4096 groups, and 4096 arrivals, fit; the bias is always told from them", unbiased, z3.And(
        w.with_active(limit).active() == limit, z3.ULT(limit, w.wrap), z3.ULE(arrivals + 1, bits(layout["wrap"] // 2)),
        z3.Not(w.biased()))
    yield "a biased word is seen as one", bias, w.biased()
    yield "an arrival adds one to the count", unbiased, w.becomes(w.of(w.word + one), arrived=arrivals + 1)
    yield "group 0 arrives with the bias: the last flips the generation, else the word is biased", unbiased + announces, z3.If(
        last, w.becomes(w.of(w.word + w.self_flip(M) + announced), gen=next_gen, arrived=bits(0), kind=kind),
        w.becomes(w.of(w.word + w.self_flip(M) + announced), arrived=arrivals + 1 + w.wrap - M, kind=kind))
    yield "an arrival under the bias: the last flips the generation and zeroes the count", bias, z3.If(
        last, w.becomes(w.of(w.word + one), gen=next_gen, arrived=bits(0)),
        w.becomes(w.of(w.word + one), arrived=arrivals + 1 + w.wrap - M))
    yield "group 0's arrival and M - 1 others, in any order, add one generation", some, \
        w.self_flip(M) + ((M - 1) << w.arrived_shift) == w.one_gen
    yield "the same with a veto among them: a count of M", some, \
        w.self_flip(M) + ((M - 1) << w.arrived_shift) - w.bias(M) == M << w.arrived_shift
    yield "a veto with its own arrival takes the bias out", bias, w.becomes(
        w.of(w.word + one - w.bias(M)), arrived=arrivals + 1)
    yield "group 0 arrives with a veto", unbiased + announces, w.becomes(
        w.of(w.word + w.self_flip(M) + announced - w.bias(M)), arrived=arrivals + 1, kind=kind)
    yield "group 0's veto while it waits", bias, w.becomes(w.of(w.word - w.bias(M)), arrived=arrivals)
    yield "a release or resize, by addition, even when FAULT was raised meanwhile", some + fits + late + [
        w.active() == M, w.arrived() == M], w.becomes(
        added(w.released(other).word), gen=next_gen, arrived=bits(0), active=other, flags=flags)
    yield "a kill that releases", some + fits + [w.arrived() == other, z3.ULT(other, M)], w.becomes(
        w.released(other), gen=next_gen, arrived=bits(0), active=other)
    yield "a kill or fork changes M only", fits, w.becomes(w.with_active(other), active=other)
    yield "a subtraction from a positive M changes M only", [z3.UGE(w.active(), 1)], w.becomes(
        w.of(w.word - 1), active=w.active() - 1)
    yield "closing the check-in, even when FAULT was raised meanwhile", fits + late + [
        w.active() == 0, w.flags() & w.gather != 0], w.becomes(
        added(w.word + other - w.gather), active=other, flags=flags & ~w.gather)
    yield "the first return sets DRAIN and counts one", [w.arrived() == 0], w.becomes(
        w.of((w.word | w.drain) + one), arrived=bits(1), flags=w.flags() | w.drain)
    yield "successive generations differ, also as vote slots and kind bits", [], z3.And(
        next_gen != gen, (next_gen & 3) != (gen & 3), (next_gen & 1) != (gen & 1), (next_gen & 3) == ((gen + 1) & 3))
