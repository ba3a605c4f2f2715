"""``fit_many``: fit many AxonAD detectors at once on one device."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from axonad.axon import AxonAD, Trained
from axonad.data.scaling import Scaler
from axonad.data.series import Series
from axonad.errors import AxonADError, FleetError, InputError
from axonad.fast.gpu.feed import Member
from axonad.fast.gpu.training import models_at_once, train_stack
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.seed import generator, seeded
from axonad.torch_runtime.switches import learning
from axonad.train.loop import TrainConfig
from axonad.training_data import TrainingData, as_list, timed

LISTED = 5  # failures named in the error's message


@learning()
def fit_many(detectors: Iterable[AxonAD], series: Iterable[Any]) -> list[AxonAD]:
    """Fit each detector on its own series, all at once where they share a shape; return them.

    Every detector ends up as after its own ``fit``, except that dropout and shuffling draw random
    numbers of its seed in another order. Detectors with equal network, training parameters, device
    and number of channels are trained as one stack, with one kernel launch for all of them. ``fit``
    is called where a detector has no partner or a stack would be slower. Detectors that differ only
    in how they score, on equal series, are trained once.

    If a series cannot be used or a training diverges, all others are still fitted; then a
    :class:`~axonad.errors.FleetError` says which failed and why. A detector that failed, or was not
    reached before an interrupt, stays as it was.

    Parameters
    ----------
    detectors
        Detectors to fit, each with its own parameters and seed. No detector may appear twice.
    series
        As many arrays, frames or Series, in the same order.
    """
    detectors, series = _listed(detectors, "detectors"), _listed(series, "series")
    _check_lists(detectors, series)
    errors: dict[int, AxonADError] = {}
    jobs = []
    for index, (detector, X) in enumerate(zip(detectors, series, strict=True)):
        try:
            source = timed(X)
            data = detector.training_data(source)
            jobs.append(_Job(index, detector, source, data, resolve_device(detector.device)))
        except AxonADError as error:
            errors[index] = error
    for stack in _stacks(_once(jobs)):
        errors |= _fit_together(stack) if len(stack) > 1 else _fit_alone(stack[0])
    if errors:
        raise FleetError(_error_message(errors, len(detectors)), errors=errors)
    return detectors


def batch_key(detector: AxonAD, *, channels: int = 1) -> tuple[NetConfig, TrainConfig]:
    """Return what detectors must have in common to be trained as one batch, or once for all.

    It leaves out the tail, which matters for scoring only.
    """
    return replace(detector.net_config(channels), tail=1), detector.train_config()


@dataclass(frozen=True)
class _Job:
    """One detector with its training data, and the jobs that would learn the same weights."""

    index: int
    detector: AxonAD
    X: Any
    data: TrainingData
    device: torch.device
    same_weights: list[_Job] = field(default_factory=list)

    def training_key(self) -> tuple[object, ...]:
        """Return everything that determines the trained weights."""
        detector, values, names = self.detector, self.data.values, self.data.names
        content = hashlib.sha256(np.ascontiguousarray(values).data).digest()
        own = detector.seed, detector.scaling, detector.validation
        how = type(detector).train, type(detector).prepare  # a subclass may override them
        order = values.flags.c_contiguous  # memory order changes how sums round
        alike = batch_key(detector, channels=values.shape[1])
        rows = values.shape, order, content, self.data.recordings
        return *alike, self.device, own, how, names, *rows

    def prepare(self) -> tuple[Scaler, Member]:
        """Return the scaler and the untrained network with its data, as ``fit`` draws them."""
        seed = self.detector.seed
        with seeded(seed, self.device):
            scaler, net, series, held_out = self.detector.prepare(
                self.data.values, self.data.names, self.device, self.data.recordings
            )
            own = generator(seed, self.device)
        return scaler, Member(net=net, series=series, validation=held_out, generator=own)

    def failed(self, error: AxonADError) -> dict[int, AxonADError]:
        """Return the error for all detectors of this job, by index."""
        return {job.index: error for job in (self, *self.same_weights)}

    def finish(self, trained: Trained) -> dict[int, AxonADError]:
        """Fit all detectors of this job with the trained network; return errors by index."""
        scaler, net, history = trained
        errors = {}
        for job in (self, *self.same_weights):
            own = net if job is self else job._copy(net)
            try:
                job._adopt((scaler, own, history if job is self else copy.deepcopy(history)))
            except AxonADError as error:
                errors[job.index] = error
        return errors

    def _copy(self, net: AxonNet) -> AxonNet:
        """Return a network for this detector with the weights of another."""
        with seeded(self.detector.seed, self.device):  # the drawn weights are overwritten
            own = self.detector.make_net(self.data.values.shape[1]).to(self.device)
        own.load_state_dict(net.state_dict())
        return own

    def _adopt(self, trained: Trained) -> None:
        """Let the detector set its statistics, scores and threshold with the trained network."""
        detector, verbose = self.detector, self.detector.verbose
        detector.verbose = False  # the joint fit shows one progress bar for all
        try:
            detector.fit_by(
                lambda X, _: detector.finish_fit(X, trained), self.data.values, self.data.names,
                interval=self.data.interval, recordings=self.data.recordings,
                source=as_list(self.X),
            )  # fmt: skip
        finally:
            detector.verbose = verbose


def _once(jobs: list[_Job]) -> list[_Job]:
    """Return one job per distinct training; it lists the others in ``same_weights``."""
    first: dict[tuple[object, ...], _Job] = {}
    for job in jobs:
        lead = first.setdefault(job.training_key(), job)
        if lead is not job:
            lead.same_weights.append(job)
    return list(first.values())


def _fit_alone(job: _Job) -> dict[int, AxonADError]:
    try:
        if job.same_weights:
            show = _wants_bar([job])
            data = job.data
            trained = job.detector.train(data.values, data.names, data.recordings, show=show)
            return job.finish(trained)
        job.detector.fit(job.X)
    except AxonADError as error:
        return job.failed(error)
    return {}


def _wants_bar(jobs: list[_Job]) -> bool:
    return any(each.detector.verbose for job in jobs for each in (job, *job.same_weights))


def _fit_together(jobs: list[_Job]) -> dict[int, AxonADError]:
    """Train the jobs as one stack and finish each as soon as its training ends."""
    errors: dict[int, AxonADError] = {}
    ready: list[tuple[_Job, Scaler, Member]] = []
    for job in jobs:
        try:
            ready.append((job, *job.prepare()))
        except AxonADError as error:
            errors |= job.failed(error)
    if not ready:
        return errors
    config = jobs[0].detector.train_config()
    members = [member for _, _, member in ready]
    steps = config.epochs * sum(config.steps(member.windows) for member in members)
    with Progress(f"fitting {len(members)} models", steps, show=_wants_bar(jobs)) as progress:
        for index, history in train_stack(members, config, progress):
            job, scaler, member = ready[index]
            errors |= job.finish((scaler, member.net, history))
    return errors


def _stacks(jobs: list[_Job]) -> Iterator[list[_Job]]:
    """Group jobs that can be trained together into equal parts that fit the device's memory.

    Series of similar length are grouped: their epochs end, and are validated, at the same time.
    """
    groups: dict[tuple[NetConfig, TrainConfig, torch.device], list[_Job]] = {}
    for job in sorted(jobs, key=lambda job: len(job.data.values)):
        net, training = batch_key(job.detector, channels=job.data.values.shape[1])
        groups.setdefault((net, training, job.device), []).append(job)
    for (net, training, device), group in groups.items():
        at_once = models_at_once(net, training.batch_size, device) if net.is_standard else 1
        parts = -(-len(group) // at_once)
        size = -(-len(group) // parts)
        for first in range(0, len(group), size):
            yield group[first : first + size]


def _listed(many: Any, name: str) -> list[Any]:
    """Return ``many`` as a list; reject a bare series or detector."""
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
    for index, detector in enumerate(detectors):
        if isinstance(detector, type):
            raise InputError(
                f"detector {index} must be an AxonAD, got the class {detector.__name__}; "
                f"make one with {detector.__name__}()"
            )
        if not isinstance(detector, AxonAD):
            raise InputError(
                f"detector {index} must be an AxonAD, got {type(detector).__name__}; "
                "fit it with its fit method"
            )
        if id(detector) in seen:
            raise InputError(
                f"detectors {seen[id(detector)]} and {index} are the same object; "
                "make one detector per series"
            )
        seen[id(detector)] = index


def _error_message(errors: Mapping[int, AxonADError], count: int) -> str:
    listed = [f"detector {index}: {errors[index]}" for index in sorted(errors)[:LISTED]]
    more = f"\nand {len(errors) - LISTED} more" if len(errors) > LISTED else ""
    others = ", the others are" if len(errors) < count else ""
    lines = [f"{len(errors)} of {count} detectors could not be fitted{others}:", *listed]
    return "\n".join(lines) + more
