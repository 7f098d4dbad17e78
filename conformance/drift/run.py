"""A full comparison: every version writes, and every version reads the written bytes and other inputs.

A step is a pair of neighbouring versions, whose results are compared. The versions run in parallel processes.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final

from conformance.contain.supervised import Group
from conformance.drift.comparing import QUIET, VersionChange, VersionDifference, compare_readings, compare_writings
from conformance.drift.digests import CaseDigests, digests_of
from conformance.drift.pacing import Pace
from conformance.drift.readinputs import (
    DriftInput,
    catalogue_inputs,
    hostile_inputs,
    mutated_inputs,
    reference_inputs,
    written_inputs,
)
from conformance.drift.recipes import DriftRecipe, Writing, draw_recipes
from conformance.drift.userfiles import NO_FILES, OWN_KIND, UserFiles, user_inputs, user_recipes
from conformance.drift.versions import DriftError, Version, VersionAnswer, ask
from conformance.drift.workerjobs import key_of, mixed, read_job, size_of, values_job, write_job, writing_id

__all__ = ["MUTANTS", "WRITTEN", "Drift", "DriftPlan", "run_drift"]

MUTANTS: Final = 5000
"""The number of mutants in a full run."""
WRITTEN: Final = "write "
"""The beginning of the classes of writings."""
WRITING: Final = 0.4
"""The share of a limited time that is for writing; what was written is read in any case."""

Say = Callable[[str], None]
Step = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class DriftPlan:
    """The cases of a run: the seed, the share of the recipes, the number of mutants, and the case of a replay.

    ``kinds`` are the classes of recipes, all if it is empty. ``catalogue`` includes the reference's legal variations,
    mutants and hostile bytes; without ``reading``, only the bytes that the versions wrote are read. ``files`` are
    cases from the user's own data. ``seconds`` limits the time of the run: the cases come in a mixed order then, and
    the last ones may be left out.
    """

    seed: int = 0
    share: float = 1.0
    mutants: int = MUTANTS
    case: str = ""
    kinds: tuple[str, ...] = ()
    catalogue: bool = True
    reading: bool = True
    files: UserFiles = NO_FILES
    seconds: float | None = None

    @property
    def options(self) -> str:
        """The command-line options that draw the same cases; those with default values are left out."""
        seed = f" --seed {self.seed}" if self.seed else ""
        share = f" --share {self.share:g}" if self.share != 1.0 else ""
        return seed + share + "".join(f" --files {shlex.quote(name)}" for name in self.files.names)


@dataclasses.dataclass(frozen=True, slots=True)
class Drift:
    """The result of a run.

    ``counts`` maps step, class and change to a number of cases. ``differences`` contains all differences except the
    quiet ones; ``saved`` their bytes by file name. ``inputs`` counts the read inputs by class. The others are by
    version: ``lacking`` counts cases by the feature that the version lacks; ``spills`` lists the writings that contain
    memory from outside the buffers; ``broken`` lists, by rule, the writings that break it; and ``misread`` lists the
    writings that the version does not read back with their values. ``left_out`` counts the writings for which
    there was no time; ``complete`` is False if there was none for a writing or a reading; the user's own files are
    always written and read. ``asked`` are the versions as the user named them.
    """

    plan: DriftPlan
    versions: tuple[str, ...]
    recipes: int
    writings: int
    inputs: Mapping[str, int]
    counts: Mapping[Step, Mapping[str, Mapping[VersionChange, int]]]
    differences: tuple[VersionDifference, ...]
    lacking: Mapping[str, Mapping[str, int]]
    spills: Mapping[str, Sequence[str]]
    broken: Mapping[str, Mapping[str, Sequence[str]]]
    misread: Mapping[str, Sequence[str]]
    digests: Mapping[str, CaseDigests]
    saved: Mapping[str, bytes]
    left_out: int = 0
    complete: bool = True
    asked: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def steps(self) -> list[Step]:
        """The compared pairs of versions, in order."""
        return list(pairwise(self.versions))

    def replay(self, difference: VersionDifference) -> str:
        """The command that reproduces a difference."""
        old, new = (shlex.quote(self.asked.get(name, name)) for name in (difference.old, difference.new))
        versions = f"--from {old} --to {new}"
        return f"conformance drift {versions}{self.plan.options} --case {shlex.quote(difference.case)}"

    @property
    def matters(self) -> bool:
        """True if any difference should fail a build."""
        return any(difference.matters for difference in self.differences)


def run_drift(versions: Sequence[Version], plan: DriftPlan, *, say: Say = lambda _: None) -> Drift:
    """Compare ``versions``, from old to new, on the cases of ``plan``; ``say`` is called with a line per stage.

    Raises :class:`DriftError` if a version's worker does not run, or if there is no case with the plan's id.
    """
    return _Run(versions, plan, say).result()


_WRITTEN: Final = re.compile(r"(?P<recipe>[\w.-]+)/(?P<writing>(stream|file)[+\w]*)(@(?P<version>[\w.]+))?")


class _Run:
    def __init__(self, versions: Sequence[Version], plan: DriftPlan, say: Say) -> None:
        self.versions = versions
        self.plan = plan
        self.say = say
        drawn = draw_recipes(plan.seed, share=plan.share)
        self.recipes = [recipe for recipe in drawn if recipe.kind in (plan.kinds or (recipe.kind,))]
        self.pairs = [(recipe, writing) for recipe in self.recipes for writing in recipe.writings]
        if plan.seconds is not None:
            self.pairs.sort(key=lambda pair: mixed(plan.seed, writing_id(*pair)))
        own = [(recipe, writing) for recipe in user_recipes(plan.files.files) for writing in recipe.writings]
        self.pairs = [*own, *self.pairs]
        if plan.case:
            self.choose(plan.case)
        self.own = sum(recipe.kind == OWN_KIND for recipe, _ in self.pairs)
        self.pace = Pace(plan.seconds)
        self.differences: list[VersionDifference] = []
        self.counts: dict[Step, dict[str, dict[VersionChange, int]]] = {}
        self.read_by: dict[str, dict[bytes, VersionAnswer]] = {}
        self.saved: dict[str, bytes] = {}

    def choose(self, case: str) -> None:
        """Drop all recipes and writings that the case ``case`` does not need."""
        found = _WRITTEN.fullmatch(case)
        self.pairs = [
            pair for pair in self.pairs if found and writing_id(*pair) == f"{found['recipe']}/{found['writing']}"
        ]

    def result(self) -> Drift:
        all_pairs = len(self.pairs)
        written, values = self.write()
        inputs, readings = self.read(written)
        if self.plan.case and not self.pairs and not inputs:
            raise DriftError(f"no case is called {self.plan.case!r} with seed {self.plan.seed} and these versions")
        for (old, new), (older, newer) in zip(self.steps(), pairwise(written), strict=True):
            for (recipe, writing), *answers in zip(self.pairs, older, newer, strict=True):
                self.writing((old, new), recipe, writing, (answers[0], answers[1]))
        for (old, new), (older, newer) in zip(self.steps(), pairwise(readings), strict=True):
            for one, before, after in zip(inputs, older, newer, strict=True):
                self.keep(compare_readings(one, (old, new), before, after), one.data)
        return Drift(
            plan=self.plan,
            versions=tuple(version.name for version in self.versions),
            recipes=len({recipe.id for recipe, _ in self.pairs}),
            writings=len(self.pairs),
            inputs=collections.Counter(one.kind for one in inputs),
            counts=self.counts,
            differences=tuple(self.differences),
            lacking={version.name: _lacking(answers) for version, answers in zip(self.versions, written, strict=True)},
            spills={
                version.name: [answer.id for answer in answers if answer.spilled]
                for version, answers in zip(self.versions, written, strict=True)
            },
            broken=self.broken(inputs, written),
            misread={
                version.name: self.misread(version.name, answers, meant)
                for version, answers, meant in zip(self.versions, written, values, strict=True)
            },
            digests={
                version.name: digests_of(self.plan.seed, answers, meant)
                for version, answers, meant in zip(self.versions, written, values, strict=True)
            },
            saved=self.saved,
            left_out=all_pairs - len(self.pairs),
            complete=not self.pace.cut,
            asked={version.name: version.asked or version.name for version in self.versions},
        )

    def steps(self) -> list[Step]:
        return list(pairwise(version.name for version in self.versions))

    def ask(self, jobs: Sequence[Mapping[str, Any]]) -> list[list[VersionAnswer]]:
        group = Group()
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            asked = [threads.submit(ask, version, jobs, group=group) for version in self.versions]
            try:
                return [answers.result() for answers in asked]
            except BaseException:  # an interrupt, or a version that does not run: do not wait for the others
                threads.shutdown(wait=False, cancel_futures=True)
                group.kill()
                raise

    # --- writing ------------------------------------------------------------------------------------

    def write(self) -> tuple[list[list[VersionAnswer]], list[list[VersionAnswer]]]:
        """Each version's answers to every writing, and to the values of each recipe.

        The pairs for which there was no time are dropped.
        """
        writings: list[list[VersionAnswer]] = [[] for _ in self.versions]
        values: list[list[VersionAnswer]] = [[] for _ in self.versions]
        done: list[tuple[DriftRecipe, Writing]] = []
        known: set[str] = set()
        for block in self.pace.blocks(
            self.pairs, share=WRITING, size=lambda pair: size_of(pair[0]), needed=max(1, self.own)
        ):
            self.say(f"{len(done)} of {len(self.pairs)} writings in each of {len(self.versions)} versions")
            new = [one for one in _recipes(block) if one.id not in known]
            known.update(one.id for one in new)
            answers = self.ask([*(write_job(*pair) for pair in block), *map(values_job, new)])
            for of_version, written, meant in zip(answers, writings, values, strict=True):
                written.extend(of_version[: len(block)])
                meant.extend(of_version[len(block) :])
            done += block
        self.pairs = done
        return writings, values

    def writing(
        self, step: Step, recipe: DriftRecipe, writing: Writing, answers: tuple[VersionAnswer, VersionAnswer]
    ) -> None:
        case = writing_id(recipe, writing)
        same = self.same_values(step)
        found = compare_writings(case, f"{WRITTEN}{recipe.kind}", step, answers, container=writing.container, same=same)
        self.keep(found, answers[1].data, answers[0].data)

    def same_values(self, step: Step) -> Callable[[bytes, bytes], bool]:
        """A function that is True if both versions read the same values from two byte strings.

        The older version is compared only if it reads both.
        """

        def same(old: bytes, new: bytes) -> bool:
            before, after = (self.read_by[step[1]][key_of(data)] for data in (old, new))
            if _meaning(before) != _meaning(after):
                return False
            before, after = (self.read_by[step[0]][key_of(data)] for data in (old, new))
            return before.status != "rows" or after.status != "rows" or _meaning(before) == _meaning(after)

        return same

    # --- reading ------------------------------------------------------------------------------------

    def read(self, written: Sequence[Sequence[VersionAnswer]]) -> tuple[list[DriftInput], list[list[VersionAnswer]]]:
        """The inputs, each byte string that was written once, and each version's answers to them."""
        self.say("judging the inputs")
        needed = written_inputs(
            (version.name, answer.id, writing.container, answer.data)
            for version, answers in zip(self.versions, written, strict=True)
            for (_, writing), answer in zip(self.pairs, answers, strict=True)
            if answer.status == "written"
        )
        inputs: list[DriftInput] = []
        readings: list[list[VersionAnswer]] = [[] for _ in self.versions]
        own = [one for one in user_inputs(self.plan.files.files) if self.plan.case in ("", one.id)]
        every = itertools.chain(own, needed, self.others())
        for block in self.pace.blocks(every, size=lambda one: len(one.data), needed=len(own) + len(needed)):
            self.say(f"{len(inputs)} readings in each of {len(self.versions)} versions, now {len(block)} more")
            for version, old, new in zip(self.versions, readings, self.ask(list(map(read_job, block))), strict=True):
                old.extend(new)
                known = self.read_by.setdefault(version.name, {})
                known.update((key_of(one.data), answer) for one, answer in zip(block, new, strict=True))
            inputs += block
        return inputs, readings

    def others(self) -> Iterator[DriftInput]:
        """The inputs of the suite that no version wrote."""
        case = self.plan.case
        found: list[Iterator[DriftInput]] = []
        if self.plan.reading and (not case or case.startswith(("reference/", "mutant.", "legal/", "lie/", "hostile/"))):
            used = {recipe.id for recipe, _ in self.pairs}
            bases = list(reference_inputs(one for one in self.recipes if case or one.id in used))
            sound = [one for one in bases if one.valid]
            number = case.removeprefix("mutant.")
            numbers = [int(number)] if re.fullmatch(r"\d{1,19}", number) else range(self.plan.mutants)
            found.append(iter(bases))
            found += [catalogue_inputs(), hostile_inputs()] if self.plan.catalogue else []
            found.append(mutated_inputs(self.plan.seed, sound, numbers))
        every = itertools.chain(*found) if self.plan.seconds is None else _in_turns(found)
        return (one for one in every if case in ("", one.id))

    # --- results ------------------------------------------------------------------------------------

    def keep(self, found: VersionDifference, data: bytes, before: bytes = b"") -> None:
        """Count a difference and, unless its change is quiet, list it and save its bytes."""
        kinds = self.counts.setdefault((found.old, found.new), {})
        changes = kinds.setdefault(found.kind, {})
        changes[found.change] = changes.get(found.change, 0) + 1
        if found.change in QUIET:
            return
        self.differences.append(found)
        name = re.sub(r"[^\w.+-]", "_", found.case)
        for version, content in ((found.new, data), (found.old, before)):
            if content:
                self.saved[f"{name}.{version}" if before else name] = content

    def broken(
        self, inputs: Sequence[DriftInput], written: Sequence[Sequence[VersionAnswer]]
    ) -> dict[str, dict[str, list[str]]]:
        """For each version, the rules that its bytes break, each with the writings that break it."""
        rules = {key_of(one.data): one.broken for one in inputs if one.broken}
        found: dict[str, dict[str, list[str]]] = {}
        for version, answers in zip(self.versions, written, strict=True):
            by_rule = found.setdefault(version.name, {})
            for answer in answers:
                for rule in rules.get(key_of(answer.data), ()) if answer.data else ():
                    by_rule.setdefault(str(rule), []).append(answer.id)
        return found

    def misread(self, version: str, written: Sequence[VersionAnswer], values: Sequence[VersionAnswer]) -> list[str]:
        """The writings of a version from which the same version does not read the values that were written."""
        meant = {answer.id: answer.digest for answer in values}
        return [
            answer.id
            for answer in written
            if answer.data and self.read_by[version][key_of(answer.data)].digest != meant[answer.id.partition("/")[0]]
        ]


def _in_turns(sources: Iterable[Iterator[DriftInput]]) -> Iterator[DriftInput]:
    """One of each source after the other, so that each has its share of a time that is too short for all."""
    left = collections.deque(sources)
    while left:
        source = left.popleft()
        for one in itertools.islice(source, 1):
            yield one
            left.append(source)


def _recipes(pairs: Sequence[tuple[DriftRecipe, Writing]]) -> Iterator[DriftRecipe]:
    yield from {recipe.id: recipe for recipe, _ in pairs}.values()


def _meaning(answer: VersionAnswer) -> tuple[str, str, int]:
    return answer.status, answer.digest, answer.rows


def _lacking(answers: Sequence[VersionAnswer]) -> dict[str, int]:
    return dict(collections.Counter(answer.text for answer in answers if answer.status == "lacking"))
