"""How long is a training step on many accelerators? A small model: arithmetic, and a network between.

Data parallelism: each accelerator computes its share of the batch, then all add up their gradients. A sum over n of
them goes around a ring, in 2 (n - 1) messages, and sends 2 (n - 1) / n times the gradients from each (Patarasuk & Yuan
2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"). Where some share a machine, they first
add up within it, each a part; then each part goes around the machines, and what comes back around the machine.

What is left out: reading texts, the optimizer, padding, stragglers, other traffic, and that a small share of a batch
uses an accelerator worse.
"""

import dataclasses
import math

BACKWARD = (
    2 / 3
)  # Of a step's arithmetic; an exchange can hide behind it, as the gradients of the last layers are first.


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Accelerators, and what is between them.

    Attributes:
        flops: Floating-point operations a second of each, at its peak.
        utilisation: Share of the peak that a step reaches.
        per_machine: Accelerators in a machine.
        inside: Bytes a second that each sends within its machine.
        between: Bytes a second that each sends to other machines.
        inside_latency: Seconds that a message within a machine takes at least.
        between_latency: Likewise between machines.
    """

    flops: float
    utilisation: float
    per_machine: int
    inside: float
    between: float
    inside_latency: float
    between_latency: float

    def exchange_seconds(self, size, count):
        """Time in which so many accelerators add up gradients of so many bytes."""
        inner, machines = min(count, self.per_machine), math.ceil(count / self.per_machine)
        return ring_seconds(size, inner, self.inside, self.inside_latency) + ring_seconds(
            size / inner, machines, self.between, self.between_latency
        )

    def compute_seconds(self, flops, count):
        """Time in which so many accelerators share out so many operations."""
        return flops / count / (self.flops * self.utilisation)


def ring_seconds(size, count, bandwidth, latency):
    """Time in which `count` members of a ring add up `size` bytes."""
    return sent_bytes(size, count) / bandwidth + 2 * (count - 1) * latency


def sent_bytes(size, count):
    """Bytes that each of `count` members of a ring sends to add up `size` bytes."""
    return 2 * (count - 1) / count * size


def step_seconds(compute, exchange):
    """Shortest and longest time of a step: the exchange hidden behind the backward pass where it can be, and not."""
    return compute + max(0.0, exchange - BACKWARD * compute), compute + exchange
