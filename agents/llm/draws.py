"""Many answers at once: in one request where the endpoint gives several, else in parallel up to a limit."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.errors import BudgetExceeded


@dataclass(slots=True)
class Draw:
    """Answers to one question; ``complete_all`` fills them in."""

    requests: Sequence[Request]
    """The question, once for each answer, by rising sample number."""
    complete: Callable[[Request], Answer]
    answers: dict[int, Answer] = field(default_factory=dict)
    """Answers that there are, by the place of their request."""
    failures: list[Exception] = field(default_factory=list)

    def ask_together(self) -> None:
        """Ask for all answers in one request; a budget without room for all is no failure yet."""
        first, last = self.requests[0], self.requests[-1]
        is_row = last.sample - first.sample == len(self.requests) - 1
        wanted = len(self.requests) if is_row else 1
        try:
            answer = self.complete(first.model_copy(update={"wanted": wanted}))
        except BudgetExceeded as error:
            if wanted == 1:
                self.failures.append(error)
        except Exception as error:
            self.failures.append(error)
        else:
            self.answers = dict(enumerate(answer.answers))

    def ask_one(self, place: int) -> None:
        try:
            self.answers[place] = self.complete(self.requests[place])
        except Exception as error:
            self.failures.append(error)

    @property
    def missing(self) -> list[int]:
        return [place for place in range(len(self.requests)) if place not in self.answers]


def complete_all(draws: Sequence[Draw], at_once: int) -> None:
    """Fill the draws with answers; after a failure, questions that have not begun are left out."""
    asked = [draw for draw in draws if draw.requests]
    count = sum(len(draw.requests) for draw in asked)
    if 1 in {at_once, count}:
        for draw in asked:
            for place in draw.missing:
                _ask_one(asked, draw, place)
        return
    with ThreadPoolExecutor(max(1, min(at_once, count))) as pool:
        for future in [pool.submit(draw.ask_together) for draw in asked]:
            future.result()
        left = [(draw, place) for draw in asked for place in draw.missing]
        for future in [pool.submit(_ask_one, asked, draw, place) for draw, place in left]:
            future.result()


def _ask_one(draws: Sequence[Draw], draw: Draw, place: int) -> None:
    if not any(each.failures for each in draws):
        draw.ask_one(place)
