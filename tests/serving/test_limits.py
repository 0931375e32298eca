import pytest

from keras_transformer import InputError
from keras_transformer.serving import limits
from keras_transformer.serving.limits import Limits, Rate, RequestRejected, network_of


def refused(rate, client, now):
    try:
        rate.check(client, now)
    except RequestRejected as error:
        return error.headers["Retry-After"]
    return False


def test_a_client_asks_as_often_as_the_rate_says():
    rate = Rate(2)
    assert [refused(rate, "a", now) for now in (0, 0, 0)] == [False, False, "1"]
    assert [refused(rate, "a", now) for now in (0.5, 0.5)] == [False, "1"]
    assert [refused(rate, "a", now) for now in (99, 99, 99)] == [False, False, "1"]


def test_one_request_in_four_seconds():
    rate = Rate(0.25)
    assert [refused(rate, "a", now) for now in (0, 1, 4)] == [False, "3", False]


def test_clients_do_not_count_for_each_other():
    rate = Rate(1)
    assert [refused(rate, client, 0) for client in "abab"] == [False, False, "1", "1"]


def test_of_many_clients_the_last_are_remembered(monkeypatch):
    monkeypatch.setattr(limits, "CLIENTS", 2)
    rate = Rate(1)
    assert [refused(rate, client, 0) for client in "abcca"] == [False, False, False, "1", False]
    assert len(rate.clients) == 2


@pytest.mark.parametrize(
    ("setting", "value"),
    [("batch", 0), ("queue", 0), ("programs", -1), ("rate", -1.0), ("rate", float("nan")), ("timeout", 0.0)],
)
def test_limits_that_cannot_be_are_named(setting, value):
    with pytest.raises(InputError, match=f"^--{setting} must be"):
        Limits(**{setting: value})


def test_a_client_is_its_address_or_its_ipv6_network():
    addresses = ["192.0.2.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff::1", "::1", "unknown", "a" * 60_000]
    assert [network_of(address) for address in addresses] == [
        "192.0.2.1", "2001:db8:1:2::/64", "2001:db8:1:2::/64", "::/64", "unknown", "a" * 45,
    ]  # fmt: skip
