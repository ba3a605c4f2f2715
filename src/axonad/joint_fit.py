"""Many AxonAD detectors fitted at once on one device."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from axonad.axon import AxonAD, Trained
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import Scaler
from axonad.data.series import Series
from axonad.errors import AxonADError, FleetError, InputError
from axonad.fast.gpu.feed import Member
from axonad.fast.gpu.training import models_at_once, train_fleet
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.paper.variant_net import make_net
from axonad.progress import Progress
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.seed import generator, seeded
from axonad.torch_runtime.switches import learning
from axonad.train.loop import TrainConfig

LISTED = 5  # failures named in the error's message


@learning()
def fit_many(detectors: Iterable[AxonAD], series: Iterable[Any]) -> list[AxonAD]:
    """Fit each detector on its own series, all at once where they share a shape; return them.

    Every detector ends as after its own ``fit``, up to the luck of its draws: dropout and shuffles
    come from its own seed in another order. Detectors whose network, training and device agree (and
    whose series have as many channels) are trained together, one launch for all of them; where
    there is only one of a kind, or together would be slower, ``fit`` is called. Detectors that
    differ in how they score alone, on equal series, are trained once.

    A series that cannot be used or a training that diverges stops nobody else: all others are
    fitted, then a :class:`~axonad.errors.FleetError` tells which failed and why. A detector that
    failed, or was not reached before an interrupt, is as it was before.

    Parameters
    ----------
    detectors
        Detectors to fit, each with its own parameters and seed. No detector may come twice.
    series
        As many arrays, frames or Series, in the same order.
    """
    detectors, series = _listed(detectors, "detectors"), _listed(series, "series")
    _check_lists(detectors, series)
    errors: dict[int, AxonADError] = {}
    jobs = []
    for place, (detector, X) in enumerate(zip(detectors, series, strict=True)):
        try:
            values, names = detector._admitted(X)
            jobs.append(_Job(place, detector, X, values, names, resolve_device(detector.device)))
        except AxonADError as error:
            errors[place] = error
    for stack in _stacks(_once(jobs)):
        errors |= _fit_together(stack) if len(stack) > 1 else _fit_alone(stack[0])
    if errors:
        raise FleetError(_complaint(errors, len(detectors)), errors=errors)
    return detectors


@dataclass(frozen=True)
class _Job:
    """One detector, what it was given to learn from, and others who would learn the same."""

    place: int
    detector: AxonAD
    X: Any
    values: Matrix
    names: Names
    device: torch.device
    twins: list[_Job] = field(default_factory=list)

    def lesson(self) -> tuple[object, ...]:
        """Return all that decides which weights training ends with."""
        detector, shape = self.detector, self.values.shape
        net = replace(detector._net_config(shape[1]), tail=1)  # the tail is for scoring alone
        content = hashlib.sha256(np.ascontiguousarray(self.values).data).digest()
        own = detector.seed, detector.scaling, detector.validation
        how = type(detector)._train, type(detector)._untrained  # a subclass may have its own
        order = self.values.flags.c_contiguous  # sums differ in their last digit
        training = detector._train_config()
        return net, training, self.device, own, how, self.names, shape, order, content

    def prepare(self) -> tuple[Scaler, Member]:
        """Return the scaler and what is to be trained, drawn as ``fit`` would."""
        seed = self.detector.seed
        with seeded(seed, self.device):
            scaler, net, series, held_out = self.detector._untrained(
                self.values, self.names, self.device
            )
            own = generator(seed, self.device)
        return scaler, Member(net=net, series=series, validation=held_out, generator=own)

    def failed(self, error: AxonADError) -> dict[int, AxonADError]:
        """Return what became of everybody who waited for this training."""
        return {job.place: error for job in (self, *self.twins)}

    def finish(self, trained: Trained) -> dict[int, AxonADError]:
        """Let the detector's own ``fit`` do the rest, and that of its twins; return who failed."""
        scaler, net, history = trained
        errors = {}
        for job in (self, *self.twins):
            own = net if job is self else job._copy(net)
            try:
                job._adopt((scaler, own, history if job is self else copy.deepcopy(history)))
            except AxonADError as error:
                errors[job.place] = error
        return errors

    def _copy(self, net: AxonNet) -> AxonNet:
        """Return a network of this job's own shape with the weights of another."""
        with seeded(self.detector.seed, self.device):  # what is drawn here is nobody's
            own = make_net(self.detector._net_config(self.values.shape[1])).to(self.device)
        own.load_state_dict(net.state_dict())
        return own

    def _adopt(self, trained: Trained) -> None:
        """Statistics, scores, threshold and names, by ``fit``."""
        detector, shown = self.detector, self.detector.verbose
        detector._trained = trained  # type: ignore[attr-defined]
        detector.verbose = False  # one progress bar at a time
        try:
            detector.fit(self.X)
        finally:
            vars(detector).pop("_trained", None)
            detector.verbose = shown


def _once(jobs: list[_Job]) -> list[_Job]:
    """Return jobs of which no two learn the same; each knows its twins."""
    first: dict[tuple[object, ...], _Job] = {}
    for job in jobs:
        lead = first.setdefault(job.lesson(), job)
        if lead is not job:
            lead.twins.append(job)
    return list(first.values())


def _fit_alone(job: _Job) -> dict[int, AxonADError]:
    try:
        if job.twins:
            return job.finish(_train_alone(job))
        job.detector.fit(job.X)
    except AxonADError as error:
        return job.failed(error)
    return {}


def _train_alone(job: _Job) -> Trained:
    """Train for all of them, with a progress bar if one of them wants it."""
    detector, shown = job.detector, job.detector.verbose
    detector.verbose = _wants_bar([job])
    try:
        return detector._train(job.values, job.names)
    finally:
        detector.verbose = shown


def _wants_bar(jobs: list[_Job]) -> bool:
    return any(each.detector.verbose for job in jobs for each in (job, *job.twins))


def _fit_together(jobs: list[_Job]) -> dict[int, AxonADError]:
    """Train the jobs as one stack; finish each as soon as its training ends."""
    errors: dict[int, AxonADError] = {}
    ready: list[tuple[_Job, Scaler, Member]] = []
    for job in jobs:
        try:
            ready.append((job, *job.prepare()))
        except AxonADError as error:
            errors |= job.failed(error)
    if not ready:
        return errors
    config = jobs[0].detector._train_config()
    members = [member for _, _, member in ready]
    steps = config.epochs * sum(-(-member.windows // config.batch_size) for member in members)
    with Progress(f"fitting {len(members)} models", steps, show=_wants_bar(jobs)) as progress:
        for place, history in train_fleet(members, config, progress):
            job, scaler, member = ready[place]
            errors |= job.finish((scaler, member.net, history))
    return errors


def _stacks(jobs: list[_Job]) -> Iterator[list[_Job]]:
    """Group jobs that can be trained together, in even parts that fit the device.

    Series of like length go together: their epochs end together, and are validated together.
    """
    groups: dict[tuple[NetConfig, TrainConfig, torch.device], list[_Job]] = {}
    for job in sorted(jobs, key=lambda job: len(job.values)):
        detector = job.detector
        net = detector._net_config(job.values.shape[1])
        groups.setdefault((net, detector._train_config(), job.device), []).append(job)
    for (net, training, device), group in groups.items():
        at_once = models_at_once(net, training.batch_size, device) if net.is_standard else 1
        parts = -(-len(group) // at_once)
        size = -(-len(group) // parts)
        for first in range(0, len(group), size):
            yield group[first : first + size]


def _listed(many: Any, name: str) -> list[Any]:
    """Return ``many`` as a list; a single series or detector is none."""
    single = hasattr(many, "columns") or isinstance(many, (str, Series))
    single = single or (isinstance(many, np.ndarray) and many.ndim < 3)
    if single or not isinstance(many, Iterable):
        raise InputError(
            f"{name} must be a list with one entry per detector, got {type(many).__name__}; "
            f"put a single one into a list"
        )
    return list(many)


def _check_lists(detectors: list[AxonAD], series: list[Any]) -> None:
    if len(detectors) != len(series):
        raise InputError(
            f"fit_many needs one series per detector, got {len(detectors)} detectors "
            f"and {len(series)} series"
        )
    seen: dict[int, int] = {}
    for place, detector in enumerate(detectors):
        if isinstance(detector, type):
            raise InputError(
                f"detector {place} must be an AxonAD, got the class {detector.__name__}; "
                f"make one with {detector.__name__}()"
            )
        if not isinstance(detector, AxonAD):
            raise InputError(
                f"detector {place} must be an AxonAD, got {type(detector).__name__}; "
                "call its own fit"
            )
        if id(detector) in seen:
            raise InputError(
                f"detectors {seen[id(detector)]} and {place} are the same object; "
                "make one detector per series"
            )
        seen[id(detector)] = place


def _complaint(errors: Mapping[int, AxonADError], count: int) -> str:
    listed = [f"detector {place}: {errors[place]}" for place in sorted(errors)[:LISTED]]
    more = f"\nand {len(errors) - LISTED} more" if len(errors) > LISTED else ""
    others = ", the others are" if len(errors) < count else ""
    lines = [f"{len(errors)} of {count} detectors could not be fitted{others}:", *listed]
    return "\n".join(lines) + more
