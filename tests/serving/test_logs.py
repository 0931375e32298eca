import logging

from keras_transformer.serving import logs


def test_equal_warnings_are_logged_once_in_a_while(caplog, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(logs.time, "monotonic", lambda: now[0])
    with logs.limited_logs():
        for client in ("a", "b"):
            logs.LOG.warning("a wrong key from %s", client)
        logs.LOG.warning("another warning")
        now[0] += logs.SECONDS
        logs.LOG.warning("a wrong key from %s", "c")
    assert [record.getMessage() for record in caplog.records] == [
        "a wrong key from a", "another warning", "a wrong key from c",
    ]  # fmt: skip


def test_the_same_errors_are_all_logged(caplog):
    with logs.limited_logs():
        for _ in range(2):
            logging.getLogger("uvicorn.error").error("Exception in ASGI application")
    assert len(caplog.records) == 2


def test_a_lack_of_file_handles_is_logged_once_whatever_waits(caplog):
    with logs.limited_logs():
        for number in range(3):
            logging.getLogger("asyncio").error(f"socket.accept() out of system resource\nsocket: {number}")
    assert len(caplog.records) == 1


def test_a_flood_of_different_warnings_takes_no_memory(monkeypatch):
    monkeypatch.setattr(logs, "MOST", 2)
    limit = logs.OnceInAWhile()
    for number in range(5):
        assert limit.filter(logging.makeLogRecord({"name": "a", "msg": str(number), "levelno": logging.WARNING}))
    assert len(limit.last) <= 2


def test_afterwards_the_loggers_are_as_before(caplog):
    with logs.limited_logs():
        pass
    assert not logs.LOG.filters
