from assay.agents.sampling.by_products import find_by_products


def added(*paths: str) -> str:
    return "".join(
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        for path in paths
    )


def test_by_products_are_reported_and_source_is_not() -> None:
    paths = ("reproduce_bug.py", "test_fix.py", "src/app.py.orig", "src/__pycache__/a.pyc", "out.log", "core")
    kept = ("src/core.py", "tests/test_app.py", "src/reproduction.py", "docs/patches.md", "src/logging.py")
    assert find_by_products(added(*paths, *kept), "python") == paths


def test_changed_file_is_no_by_product_by_its_name() -> None:
    changed = "diff --git a/scratch.py b/scratch.py\n--- a/scratch.py\n+++ b/scratch.py\n@@ -1 +1 @@\n-x\n+y\n"
    assert find_by_products(changed, "python") == ()
    assert find_by_products("no patch", "python") == ()
    assert find_by_products(added("out.log"), "cobol") == ()
