import pytest

from benchmarks.cluster import Cluster, ring_seconds, sent_bytes, step_seconds

FOUR_A_MACHINE = Cluster(
    flops=1e12, utilisation=0.5, per_machine=4, inside=100.0, between=10.0, inside_latency=1e-3, between_latency=0.1
)


def test_a_ring_sends_all_but_a_share_twice():
    assert [sent_bytes(120, count) for count in (1, 2, 3, 4)] == [0, 120, 160, 180]
    # 180 bytes at 10 a second, and 2 × 3 messages of half a second.
    assert ring_seconds(120, 4, 10.0, 0.5) == 18 + 3


def test_one_exchanges_nothing_and_one_machine_nothing_with_others():
    assert FOUR_A_MACHINE.exchange_seconds(120, 1) == 0
    assert FOUR_A_MACHINE.exchange_seconds(120, 2) == pytest.approx(120 / 100 + 2e-3)
    assert FOUR_A_MACHINE.exchange_seconds(120, 4) == pytest.approx(180 / 100 + 6e-3)


def test_machines_exchange_a_part_of_each_of_their_accelerators():
    # Within the machines as above; then three machines go around with a fourth of it: 40 bytes, and 4 messages.
    assert FOUR_A_MACHINE.exchange_seconds(120, 12) == pytest.approx(1.8 + 6e-3 + 40 / 10 + 0.4)


def test_arithmetic_is_shared_out():
    assert FOUR_A_MACHINE.compute_seconds(8e12, 4) == 8 / 4 / 0.5


def test_an_exchange_hides_behind_two_thirds_of_the_arithmetic():
    assert step_seconds(3.0, 1.0) == (3.0, 4.0)
    assert step_seconds(3.0, 2.5) == (3.5, 5.5)
