"""The server is as its description says, whatever is asked: schemathesis makes the requests."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, reject, settings

pytestmark = pytest.mark.heavy

BEYOND_SCHEMAS = (
    "greedy decoding finds one answer", "beams cannot find", "min_length", "this model does not support attention",
    "in base64", "this model answers by generate only", "required words need beam search",
    "is forbidden: leave one out", "is too small for the required words", "no answer with the required words",
    "no allowed tokens of the tokenizer",
)  # fmt: skip
"""What a schema cannot say, of values that may not be together above all."""


@pytest.fixture
def operations(start):
    schema = schemathesis.openapi.from_url(f"{start().address}/openapi.json")
    return [found.ok() for found in schema.get_all_operations()]


def check(operation, mode):
    """Asks in many ways."""

    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def keeps_to_it(case):
        response = case.call()
        if response.status_code == 413 or any(words in response.text for words in BEYOND_SCHEMAS):
            assert 400 <= response.status_code < 500
            reject()
        case.validate_response(response)

    keeps_to_it()


def test_what_the_description_allows_is_answered(operations):
    assert len(operations) == 8
    for operation in operations:
        check(operation, schemathesis.GenerationMode.POSITIVE)


def test_what_the_description_does_not_allow_is_refused(operations):
    with_bodies = [operation for operation in operations if operation.body]
    assert len(with_bodies) == 4
    for operation in with_bodies:
        check(operation, schemathesis.GenerationMode.NEGATIVE)
