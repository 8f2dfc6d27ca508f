from assay.harness.languages import javascript, typescript


def test_typescript_classifies_files_as_javascript_does() -> None:
    assert typescript.is_test_file("src/calc.spec.ts")
    assert typescript.is_test_file("packages/core/__tests__/parse.tsx")
    assert not typescript.is_test_file("src/calc.ts")
    assert typescript.runner_config("vitest.config.ts")
    assert not typescript.runner_config("src/calc.ts")
    assert typescript.TEST_COMMAND == javascript.TEST_COMMAND
