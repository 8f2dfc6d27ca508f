"""What failed tests said, in the formats that have it."""

import json

from assay.harness.reports.messages import messages


def test_go_prints_line_by_line_and_its_own_lines_are_none() -> None:
    said = ["=== RUN   TestAdd\n", "    a_test.go:9: got 3\n", "--- FAIL: TestAdd (0.00s)\n"]
    report = "".join(json.dumps({"Action": "output", "Test": "TestAdd", "Output": line}) + "\n" for line in said)
    assert [each for each in messages("go_json", report, "") if each[1]] == [("TestAdd", "    a_test.go:9: got 3")]


def test_message_of_jest_has_no_frames_of_the_stack() -> None:
    case = {
        "ancestorTitles": ["calc"],
        "title": "adds",
        "failureMessages": [
            "Expected: 3\nReceived: 4\n    at Object.<anonymous> (/t/a.test.js:3:5)\n    at new Promise"
        ],
    }
    report = json.dumps({"testResults": [{"assertionResults": [case]}]})
    found = list(messages("jest_json", report, ""))
    assert [name for name, _ in found] == ["calc adds"]
    assert found[0][1].startswith("Expected: 3\nReceived: 4")
    assert "Object" not in found[0][1]


def test_log_of_mocha_is_read_where_the_report_has_no_message() -> None:
    report = json.dumps({"testResults": [{"assertionResults": [{"title": "adds", "status": "failed"}]}]})
    log = """\
  calc
    1) adds

  0 passing (5ms)
  2 failing

  1) calc
       adds:

      AssertionError: 3 is not 4
      + expected - actual
      at add (calc.js:1:2)

  2) other:

      AssertionError: x
"""
    found = list(messages("jest_json", report, log))
    assert found[0] == (
        "calc\n       adds",
        "\n".join(["      AssertionError: 3 is not 4", "      + expected - actual", ""]),
    )
    assert found[1][0] == "other"
