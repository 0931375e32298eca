import pytest

from keras_transformer import InputError
from keras_transformer.serving.sockets import address_of, is_open, listen


def test_a_port_in_use_is_named():
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1, port {port}: Address already in use"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 65536), ("127.0.0.1", -1), ("no-such-host.invalid", 0)])
def test_a_place_that_cannot_be_is_an_error(host, port):
    with pytest.raises(InputError, match="port"):
        listen(host, port)


def test_only_a_loopback_address_is_closed_to_others():
    with listen("127.0.0.1", 0) as here, listen("0.0.0.0", 0) as everywhere:
        assert not is_open(here)
        assert is_open(everywhere)
        assert address_of(here) == f"http://127.0.0.1:{here.getsockname()[1]}"
