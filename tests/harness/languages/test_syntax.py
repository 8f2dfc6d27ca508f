"""Functions and classes of source files, as a reader of the file would list them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.errors import UserError
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import definitions, find_language, innermost, parse

PYTHON = """\
import os


@decorated
class Shop:
    opened = True

    @property
    async def price(self):
        def half(x):
            return x / 2

        return half(3)


def main(): pass
"""
JAVA = """\
package a;
@Deprecated
public class Shop<T> {
  static { open(); }
  Shop() { }
  @Override
  public int price() {
    return new Sum() { int half() { return 1; } }.half();
  }
  interface Till { int count(); }
  enum Size { BIG { int cm() { return 9; } }; int cm() { return 1; } }
  record Coin(int worth) { Coin { } }
}
"""
KOTLIN = """\
package a

@Deprecated("old")
open class Shop<T>(val size: Int) : House(size) {
    init { enter() }
    constructor() : this(0)
    @Test
    override fun price(): Int {
        fun half(x: Int): Int {
            return x / 2
        }
        return object : Sum() {
            override fun third() = 3
        }.third()
    }
    companion object {
        fun of() = Shop<Int>(1)
    }
    inner class Room {
        suspend fun <R> enter(): R = ask()
    }
}
interface Till {
    fun count(): Int
}
enum class Size {
    BIG {
        override fun cm() = 9
    };
    abstract fun cm(): Int
}
data class Coin(val worth: Int)
object Bank {
    val open = fun(): Int { return 1 }
}
fun String.shout(): String = uppercase()
"""
GO = """\
package a

type Shop struct {
	open bool
}
type (
	Till interface{ Count() int }
	Sizes[K any] map[string]K
)

func (s *Shop) Price() int {
	half := func(x int) int { return x / 2 }
	return half(3)
}
func (Sizes[K]) Len() int { return 0 }
func main()               {}
"""
RUST = """\
mod town {
    #[derive(Debug)]
    #[repr(C)]
    pub struct Shop<T> { open: T }

    impl<T> fmt::Display for Shop<T> {
        fn fmt(&self) { fn half() {} }
    }
    impl<'a> Sell for &'a super::Till<u8> { const fn price() {} }
    trait Sell { fn price(); fn twice() {} }
}
enum Size { Big }
macro_rules! sum { () => {} }
#[test]
fn sells() {}
"""
JAVASCRIPT = """\
export default class Shop extends House {
  constructor() { super(); }
  static async price() { return () => 1; }
  half = (x) => x / 2;
  #secret() {}
}
function main() {}
export const sum = async () => {
  function inner() {}
};
const table = { first: function () {}, second() {}, 'third': () => 3 };
module.exports.last = function () {};
Shop.prototype.late = () => {};
const Till = class { count() {} };
function* walk(step = () => 1) {}
it("sells", () => { expect(1); });
table["x" + 1] = function () {};
const { gone } = () => 1;
const either = table || function () {};
"""
TYPESCRIPT = """\
@Component({ a: 1 })
export class Shop<T> {
  private half = (x: number): number => x / 2;
  @Input()
  price(): void {}
}
abstract class House { abstract open(): void; }
interface Till { count(): number; name: string }
namespace Town.Hall { export function main(): void {} }
enum Size { Big }
function over(a: string): void;
function over(a: any) {}
const cast = <T>(x: T) => x;
let old = <any>cast;
"""
TSX = """\
export const App: React.FC = () => (
  <div onClick={() => 1}>text</div>
);
"""
C = """\
static int *price(struct shop *s)
{
    return s->price;
}
struct shop { int open; };
typedef struct { int y; } till;
int (*choose(void))(int) { return 0; }
enum size { BIG };
struct shop *far;
int declared(void);
"""
CPP = """\
namespace town::hall {
class Shop : House {
 public:
  Shop();
  ~Shop() {}
  template <class T>
  void price(T) {}
  bool operator==(const Shop& o) const { return true; }
  operator bool() { return true; }
  struct Coin { int worth; };
};
}
town::hall::Shop::Shop() : open(1) {}
template <typename T>
T& Till<T>::count(int x) {
  auto half = [](int y) { return y; };
  return half(x);
}
namespace { void hidden() {} }
enum class Size { Big };
std::string town::name() { return ""; }
"""
PHP = """\
<?php
namespace Town;
abstract class Shop extends House {
    public function price() { $half = function () {}; return fn($a) => $a; }
    abstract function open();
}
interface Till { function count(); }
trait Sells { static function sell() {} }
enum Size: string { case Big = 'b'; function cm() {} }
#[Pure]
function &main() {}
$x = new class { function inner() {} };
"""
RUBY = """\
module Town::Hall
  class Shop < House
    def price; end
    def self.open = true
    class << self
      def close; end
    end
    private def half; end
  end
end
def main?; end
"""

EXPECTED = {
    ("python", "shop.py", PYTHON): """\
        class Shop 4-13
        function Shop.price 8-13
        function Shop.price.half 10-11
        function main 16-16""",
    ("java", "Shop.java", JAVA): """\
        class Shop 2-13
        function Shop.Shop 5-5
        function Shop.price 6-9
        function Shop.price.half 8-8
        class Shop.Till 10-10
        function Shop.Till.count 10-10
        class Shop.Size 11-11
        function Shop.Size.cm 11-11
        function Shop.Size.cm 11-11
        class Shop.Coin 12-12
        function Shop.Coin.Coin 12-12""",
    ("kotlin", "shop.kt", KOTLIN): """\
        class Shop 3-22
        function Shop.price 7-15
        function Shop.price.half 9-11
        function Shop.price.third 13-13
        function Shop.of 17-17
        class Shop.Room 19-21
        function Shop.Room.enter 20-20
        class Till 23-25
        function Till.count 24-24
        class Size 26-31
        function Size.cm 28-28
        function Size.cm 30-30
        class Coin 32-32
        class Bank 33-35
        function shout 36-36""",
    ("go", "shop.go", GO): """\
        class Shop 3-5
        class Till 7-7
        function Till.Count 7-7
        class Sizes 8-8
        function Shop.Price 11-14
        function Sizes.Len 15-15
        function main 16-16""",
    ("rust", "shop.rs", RUST): """\
        class town.Shop 2-4
        class town.Shop 6-8
        function town.Shop.fmt 7-7
        function town.Shop.fmt.half 7-7
        class town.Till 9-9
        function town.Till.price 9-9
        class town.Sell 10-10
        function town.Sell.price 10-10
        function town.Sell.twice 10-10
        class Size 12-12
        function sum 13-13
        function sells 14-15""",
    ("javascript", "shop.mjs", JAVASCRIPT): """\
        class Shop 1-6
        function Shop.constructor 2-2
        function Shop.price 3-3
        function Shop.half 4-4
        function Shop.#secret 5-5
        function main 7-7
        function sum 8-10
        function sum.inner 9-9
        function first 11-11
        function second 11-11
        function third 11-11
        function module.exports.last 12-12
        function Shop.prototype.late 13-13
        class Till 14-14
        function Till.count 14-14
        function walk 15-15
        function table["x" + 1] 17-17""",
    ("typescript", "shop.ts", TYPESCRIPT): """\
        class Shop 1-6
        function Shop.half 3-3
        function Shop.price 4-5
        class House 7-7
        function House.open 7-7
        class Till 8-8
        function Till.count 8-8
        function Town.Hall.main 9-9
        class Size 10-10
        function over 11-11
        function over 12-12
        function cast 13-13""",
    ("typescript", "shop.tsx", TSX): "        function App 1-3",
    ("c", "shop.h", C): """\
        function price 1-4
        class shop 5-5
        class till 6-6
        function choose 7-7
        class size 8-8""",
    ("cpp", "shop.h", CPP): """\
        class town.hall.Shop 2-11
        function town.hall.Shop.~Shop 5-5
        function town.hall.Shop.price 6-7
        function town.hall.Shop.operator== 8-8
        function town.hall.Shop.operator bool 9-9
        class town.hall.Shop.Coin 10-10
        function town.hall.Shop.Shop 13-13
        function Till.count 14-18
        function hidden 19-19
        class Size 20-20
        function town.name 21-21""",
    ("php", "shop.php", PHP): """\
        class Shop 3-6
        function Shop.price 4-4
        function Shop.open 5-5
        class Till 7-7
        function Till.count 7-7
        class Sells 8-8
        function Sells.sell 8-8
        class Size 9-9
        function Size.cm 9-9
        function main 10-11
        function inner 12-12""",
    ("ruby", "shop.rb", RUBY): """\
        class Town.Hall 1-10
        class Town.Hall.Shop 2-9
        function Town.Hall.Shop.price 3-3
        function Town.Hall.Shop.open 4-4
        function Town.Hall.Shop.close 6-6
        function Town.Hall.Shop.half 8-8
        function main? 11-11""",
}


@pytest.mark.parametrize(("file", "expected"), EXPECTED.items(), ids=[key[1] for key in EXPECTED])
def test_definitions(file: tuple[str, str, str], expected: str) -> None:
    found = definitions(*file)
    assert [f"{each.kind} {each.name} {each.first}-{each.last}" for each in found] == [
        line.strip() for line in expected.splitlines()
    ]


def test_every_language_is_covered() -> None:
    assert {language for language, _, _ in EXPECTED} == set(LANGUAGES)


def test_definition_has_the_node_type_of_the_grammar() -> None:
    nodes = {each.name: each.node for each in definitions("javascript", "a.js", JAVASCRIPT)}
    assert nodes["first"] == "pair"
    assert nodes["sum"] == "variable_declarator"
    assert nodes["Shop.price"] == "method_definition"


@pytest.mark.parametrize(
    ("line", "name"),
    [(1, None), (4, "Shop"), (6, "Shop"), (8, "Shop.price"), (11, "Shop.price.half"), (13, "Shop.price"), (14, None)],
)
def test_innermost_definition_of_a_line(line: int, name: str | None) -> None:
    found = innermost(definitions("python", "shop.py", PYTHON), line)
    assert (found.name if found else None) == name


def test_last_line_of_a_file_belongs_to_its_definition() -> None:
    for text in ("def f():\n    return 1", "def f():\n    return 1\n"):
        found = innermost(definitions("python", "a.py", text), 2)
        assert found is not None
        assert found.name == "f"


def test_inner_definition_on_the_same_line_is_the_innermost() -> None:
    found = innermost(definitions("java", "A.java", "class A { int f() { return 1; } }\n"), 1)
    assert found is not None
    assert found.name == "A.f"


def test_text_with_errors_gives_the_readable_definitions() -> None:
    broken = "def sound():\n    return 1\n\ndef torn(:\n    return (\n"
    assert "sound" in {each.name for each in definitions("python", "a.py", broken)}


def test_code_hidden_by_macros_has_no_nonsense_names() -> None:
    text = "BEGIN_NAMESPACE\n\nEXPORT template <typename T> class shop {\n  int open() { return 1; }\n};\n"
    assert [each.name for each in definitions("cpp", "a.h", text)] == ["open"]
    assert not definitions("cpp", "a.cc", "EXPORT namespace town {\nint x;\n}\n")


def test_file_of_another_language_is_read_as_that_language() -> None:
    text = "const f = () => 1;\n"
    assert definitions("python", "web/a.js", text) == definitions("javascript", "web/a.js", text)
    assert definitions("python", "README.md", "def f(): pass\n") == ()
    shared = [find_language("a.h", name) for name in ("c", "cpp")]
    assert [each.NAME for each in shared if each] == ["c", "cpp"]


def test_parsed_file_has_its_language() -> None:
    parsed = parse("python", "web/a.js", "const f = () => 1;\n")
    assert parsed is not None
    assert (parsed.language.NAME, parsed.root.type, parsed.root.has_error) == ("javascript", "program", False)
    assert parse("python", "README.md", "def f(): pass\n") is None


def test_several_threads_can_read_files_at_once() -> None:
    texts = [f"class A{count}:\n" + "    def f(self): pass\n" * count for count in range(1, 60)]

    def read(text: str) -> list[str]:
        return [each.name for each in definitions("python", "a.py", text)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, texts))
    assert found == [read(text) for text in texts]


def test_unknown_language_is_a_user_error() -> None:
    with pytest.raises(UserError, match="klingon"):
        definitions("klingon", "a.kl", "")


def test_deep_nesting_is_read() -> None:
    assert definitions("c", "a.c", "{" * 5000) == ()
    deep = "\n".join(" " * depth + f"def f{depth}():" for depth in range(60)) + " pass\n"
    assert len(definitions("python", "a.py", deep)) == 60


@pytest.mark.parametrize("language", LANGUAGES)
@settings(deadline=None)
@given(data=st.data())
def test_definitions_of_any_text_nest(language: str, data: st.DataObject) -> None:
    samples = [text for name, _, text in EXPECTED if name == language]
    cut = data.draw(st.integers(0, len(samples[0])))
    text = samples[0][:cut] + data.draw(st.text()) + samples[0][cut:]
    path = f"a{sorted(LANGUAGES[language].SUFFIXES)[0]}"
    found = definitions(language, path, text)
    assert all(1 <= each.first <= each.last <= text.count("\n") + 1 for each in found)
    assert [each.first for each in found] == sorted(each.first for each in found)
    assert all(each.name and each.kind in {"function", "class"} for each in found)
