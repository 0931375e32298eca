from benchmarks import datastore


def test_a_small_datastore_is_measured(tmp_path):
    datastore.main(["--exchanges", "30", "--results", str(tmp_path / "RESULTS.md")])
    text = (tmp_path / "RESULTS.md").read_text("utf-8")
    assert "## The datastore" in text and "`python -m benchmarks.datastore --exchanges 30" in text
    assert "\n| 30 | " in text


def test_made_up_exchanges_are_always_the_same():
    assert datastore.generated_exchanges(3) == datastore.generated_exchanges(4)[:3]
    assert [one.row for one in datastore.generated_exchanges(3)] == [1, 2, 3]
