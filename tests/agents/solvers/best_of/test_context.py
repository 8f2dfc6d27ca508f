from pathlib import Path

from assay.agents.llm.chat import Request
from assay.agents.solvers.best_of.context import choose_files, show_files
from solver_sessions import SHOP, stage


def test_files_for_without_rankings_keeps_the_order_of_bm25(tmp_path: Path) -> None:
    on = stage(tmp_path, [])
    assert choose_files(on.session, SHOP, shortlist=5, rankings=0) == ["shop/prices.py", "shop/till.py"]
    assert on.asked == []


def test_files_for_merges_the_rankings_and_appends_unnamed_files(tmp_path: Path) -> None:
    on = stage(tmp_path, ["1. shop/till.py\n2. shop/none.py", "- `shop/till.py`"])
    assert choose_files(on.session, SHOP, shortlist=5, rankings=2) == ["shop/till.py", "shop/prices.py"]
    assert "shop/prices.py: total, cheapest" in str(on.asked[0].messages[0].content)
    assert "tests/test_prices.py" not in str(on.asked[0].messages[0].content)


def test_every_source_file_is_read_and_ranked_if_it_matters(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        text = str(request.messages[-1].content)
        if "Does this file have to be read" not in text:
            return "shop/till.py"
        return f"It does. <relevant>{'no' if 'shop/__init__.py' in text else 'YES'}</relevant>"

    on = stage(tmp_path, answer)
    assert choose_files(on.session, SHOP, shortlist=0, rankings=1) == ["shop/till.py", "shop/prices.py"]
    assert on.purposes() == ["read file"] * 3 + ["rank files"]
    assert not any("tests/test_prices.py" in str(each.messages[-1].content) for each in on.asked)


def test_shown_skips_a_file_that_does_not_fit() -> None:
    texts = {"long.py": "x" * 100, "a.py": "a", "b.py": "b"}
    assert show_files(texts, ["long.py", "b.py", "a.py"], 30) == "### b.py\nb\n\n### a.py\na"
