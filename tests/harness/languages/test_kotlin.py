import re

import pytest

from assay.harness.languages import kotlin


def test_places_are_the_classes_of_a_file_whatever_its_name_and_folder() -> None:
    text = """\
package com.acme

/** a class of its own */
@Tag("slow") internal class AddTest {
    class Inner
}
data class Pair(val one: Int)
object Numbers : Base()
"""
    found = {*kotlin.places("src/test/kotlin/people.kt", text)}
    assert {"people", "AddTest", "com.acme.AddTest", "com.acme.Pair", "Numbers"} < found
    assert not {"Inner", "com.acme.Inner", "of"} & found


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    private suspend inline fun <reified T : Any> List<T>.half(by: Int): T {", "half"),
        ("internal const val LIMIT = 3", "LIMIT"),
        ("sealed interface Shop", "Shop"),
        ("typealias Sums = Map<String, Int>", "Sums"),
        ("        val local = 3", ""),
        ("        total(3)", ""),
    ],
)
def test_definitions_of_a_line(line: str, name: str) -> None:
    found = {match[1] for pattern in kotlin.LINES.definitions for match in re.finditer(pattern, line)}
    assert found == ({name} if name else set())
