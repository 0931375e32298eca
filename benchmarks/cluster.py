"""A simple model of the time of a training step on many accelerators: arithmetic and communication.

With data parallelism, each accelerator computes the gradients of its shard of the batch, and an all-reduce adds them
up. A ring all-reduce over n accelerators takes 2 (n - 1) messages, and each accelerator sends 2 (n - 1) / n times the
size of the gradients (Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations").
With several accelerators per machine, the all-reduce is hierarchical: reduce-scatter within each machine, all-reduce of
each shard between the machines, all-gather within each machine.

The model leaves out data loading, the optimizer, padding, stragglers, other traffic, and the lower utilization of
accelerators with small shards.
"""

import dataclasses
import math

BACKWARD = (
    2 / 3
)  # Share of a step's arithmetic. The all-reduce can overlap with it, because the last layers' gradients come first.


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The accelerators of a cluster and their connections.

    Attributes:
        flops: Peak floating-point operations per second of each accelerator.
        utilisation: Share of the peak that a step reaches.
        per_machine: Accelerators per machine.
        inside: Bandwidth of each accelerator within its machine, in bytes per second.
        between: Bandwidth of each accelerator to other machines, in bytes per second.
        inside_latency: Minimum time of a message within a machine, in seconds.
        between_latency: Minimum time of a message between machines, in seconds.
    """

    flops: float
    utilisation: float
    per_machine: int
    inside: float
    between: float
    inside_latency: float
    between_latency: float

    def exchange_seconds(self, size, count):
        """Returns the seconds of an all-reduce of `size` bytes over `count` accelerators."""
        inner, machines = min(count, self.per_machine), math.ceil(count / self.per_machine)
        return ring_seconds(size, inner, self.inside, self.inside_latency) + ring_seconds(
            size / inner, machines, self.between, self.between_latency
        )

    def compute_seconds(self, flops, count):
        """Returns the seconds that `count` accelerators take for `flops` floating-point operations in total."""
        return flops / count / (self.flops * self.utilisation)


def ring_seconds(size, count, bandwidth, latency):
    """Returns the seconds of a ring all-reduce of `size` bytes over `count` members."""
    return sent_bytes(size, count) / bandwidth + 2 * (count - 1) * latency


def sent_bytes(size, count):
    """Returns the number of bytes that each of `count` members sends in a ring all-reduce of `size` bytes."""
    return 2 * (count - 1) / count * size


def step_seconds(compute, exchange):
    """Returns the minimum and maximum seconds of a step: with the all-reduce overlapped, and without overlap."""
    return compute + max(0.0, exchange - BACKWARD * compute), compute + exchange
