"""Small programs in every language: a class with two methods, a function, a constant, comments and literals.

Line numbers of these texts are written out in the tests; keep them.
"""

PROGRAMS: dict[str, tuple[str, str]] = {
    "python": (
        "shop.py",
        '''\
"""A shop."""
import os

LIMIT = 10  # most


@total
class Shop(Base):
    """Sells."""

    opened = 'yes'

    def price(self, sort, *more, vat=(1,)) -> int:
        """Return the price."""
        if not sort:
            return -1  # none
        return f"{sort!r}  x"

    async def sell(self): pass


def close(shop):
    with shop as open_one, other: del open_one
    return [each for each in shop if each not in other]
''',
    ),
    "java": (
        "Shop.java",
        """\
package shop;

/** Sells. */
public class Shop<T extends Comparable<T>> {
    // most
    static final int LIMIT = 10;

    Shop(int size) {
        this.size = size;
    }

    @Override
    public List<List<T>> price(final int... sorts) throws Closed {
        for (int i = 0; i < LIMIT; i++) { go("a  b", 'c'); }
        return size > 0 ? - -size : null;
    }
}
""",
    ),
    "kotlin": (
        "Shop.kt",
        """\
package shop

/** Sells. */
@Named
class Shop<T : Comparable<T>>(val size: Int) : Base(size), Till {
    // most
    val LIMIT: Int = 10

    override fun price(vararg sorts: Int): List<List<T>>? {
        for (i in 0 until LIMIT) { go("a  b", 'c'); stop() }
        when (size) {
            0 -> return null
            else -> { end() }
        }
        return if (size > 0) sorts.map { x -> x - -size } else null
    }

    companion object {
        fun close(shop: Shop) = shop.size
    }
}
""",
    ),
    "typescript": (
        "shop.ts",
        """\
import { a } from "a";

export const LIMIT: number = 10;

// sells
export class Shop extends Base<string> {
    private readonly size?: number;
    price(sort: string, ...more: string[]): Array<number> {
        return more.map((each) => each.length / 2);
    }
}

export const close = async (shop: Shop) => {
    return `x  ${await shop.price('a')}`;
};
""",
    ),
    "javascript": (
        "shop.js",
        """\
const LIMIT = 10;

/* sells */
class Shop extends Base {
    price(sort, {a, ...b}) {
        return /a  b/g.test(sort) && - -b;
    }
}

function* close(shop) {
    yield* shop?.all ?? 'none';
}
""",
    ),
    "go": (
        "shop.go",
        """\
package shop

import (
	"fmt"
	io "os"
)

// LIMIT is most.
const LIMIT = 10

type Shop struct {
	Size int `json:"a  b"`
}

func (s *Shop) Price(sort string, more ...int) (price int, err error) {
	if v, ok := s.all[sort]; ok {
		return v, nil
	}
	ch <- -1
	return 0, fmt.Errorf("none: %v", sort)
}

func Close(s *Shop) { defer s.done() }
""",
    ),
    "rust": (
        "shop.rs",
        """\
use std::fmt;

const LIMIT: usize = 10;

/// Sells.
#[derive(Debug)]
pub struct Shop<'a> {
    size: &'a [u8],
}

impl<'a> Shop<'a> {
    pub fn price(&self, sort: &str) -> Option<Vec<Vec<u8>>> {
        match sort {
            "a  b" if *self.size > [0..=1] => None, // none
            _ => Some(vec![1, 2,]),
        }
    }
}

fn close<T: Into<Shop>>(shop: T) {
    println!("{}", r#"raw  "x""#);
}
""",
    ),
    "c": (
        "shop.c",
        """\
#include <stdio.h>
#define LIMIT 10
#define MOST(x) ((x) > LIMIT)

/* sells */
struct shop {
    int size;
};

static int price(struct shop *s, const char *sort)
{
    for (int i = 0; i < s->size; ++i) {
        if (MOST(i)) return - -i; // most
        else puts("a  b");
    }
    return 'x';
}
""",
    ),
    "cpp": (
        "shop.cpp",
        """\
#include <vector>
namespace market {
// sells
template <typename T>
class Shop final : public Base<std::vector<T>> {
public:
    explicit Shop(int size) : size_(size) { open(); }
    int price(T&& sort) const noexcept {
        return [&](auto x) { return x * size_; }(sort);
    }
private:
    int size_ = 0;
};

int close() {
    return sizeof(R"(raw  x)");
}
}
""",
    ),
    "php": (
        "Shop.php",
        """\
<?php
namespace Market;

// sells
class Shop extends Base
{
    const LIMIT = 10;

    public function price(?string $sort, int ...$more): array
    {
        foreach ($more as $key => $each) {
            echo "x  $each {$sort}";
        }
        return [1, 2,];
    }
}

function close($shop) {
    return fn($x) => $shop->price($x) ?? new Shop();
}
""",
    ),
    "ruby": (
        "shop.rb",
        """\
module Market
  LIMIT = 10

  # sells
  class Shop < Base
    attr_reader :size

    def price(sort, vat: 1)
      return sort ? vat : :none if sort.nil?
      sort.each do |each|
        puts [each], "a  b" # most
      end
    end

    def self.close
      begin
        x[0] -= 1
      rescue Closed => error
        raise
      ensure
        done
      end
    end
  end
end
""",
    ),
}
"""Language to path and text."""
