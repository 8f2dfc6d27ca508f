"""PatchDiff from Python: patches beside the gold patches, without a run folder."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path

from assay.api.evaluator import Evaluator
from assay.choices import ModelChoice, read_budget
from assay.harness.domain import Instance, Prediction
from assay.harness.errors import UserError
from assay.harness.files import default_cache
from assay.harness.patchdiff.assess import PatchDiffRecord
from assay.harness.patchdiff.contract import Ask, Settings, find_operators
from assay.harness.patchdiff.generators import USUAL
from assay.harness.patchdiff.run import assess_task
from assay.harness.patchdiff.sides import Sides


@dataclass(frozen=True, slots=True)
class PatchDiff:
    """Compares patches with gold patches by their behaviour, in the containers of an evaluator.

    Example:
        >>> from assay import Evaluator, PatchDiff
        >>> with Evaluator("releases") as evaluator:
        ...     record = PatchDiff(evaluator, budget=60).compare("pallets__flask-2.3.2", patch)
        ...     print(record.comparison.finding, sorted(record.files))
        no_difference_found []
    """

    evaluator: Evaluator
    _: KW_ONLY
    generators: Sequence[str] = USUAL
    """Names of the generators of probes."""
    operators: Sequence[str] | None = None
    """Names of the operators of the generator ``compose``; None: all."""
    seed: int = 0
    budget: float | str = "default"
    """Seconds for one comparison, or ``quick`` (60), ``default`` (300), ``thorough`` (1800)."""
    confirmations: int = 20
    """Rounds that a divergence must hold in, on both sides."""
    model: ModelChoice | None = None
    """Asked by the generator ``llm``."""
    kept: Path | None = field(default_factory=lambda: default_cache() / "patchdiff")
    """Folder of what test files run with gold, by which later candidates of an instance often cost less; or None."""

    def compare(self, instance: Instance | str, patch: str | Prediction) -> PatchDiffRecord:
        """Run a patch beside the gold patch of its instance.

        Args:
            instance: an instance, or the id of one of the evaluator's data set.
            patch: a unified diff, or a prediction that holds one. Compare patches that resolve their issue.

        Returns:
            The comparison, and the test files that reproduce its divergences, by name.

        Raises:
            UserError: there is no such instance, generator, operator or model. EngineUnavailable: no engine answers.
        """
        place = self.evaluator.place
        task = place.task(*self.evaluator.pair(instance, patch))
        settings = Settings(
            tuple(self.generators),
            seed=self.seed,
            budget=read_budget(str(self.budget)),
            confirmations=self.confirmations,
            operators=find_operators(self.operators),
        )
        sides = partial(Sides, labels={"assay.instance": task.instance.id}, kept=self.kept)
        return assess_task(task, place.bench, settings, sides, ask=self._ask(), note=place.view.note)

    def _ask(self) -> Ask | None:
        if self.model is None:
            if "llm" in self.generators:
                raise UserError("the generator llm needs a model: PatchDiff(..., model=ModelChoice(name, base_url))")
            return None
        from assay.agents.llm.ask import make_ask

        return make_ask(self.model.name, self.model.base_url, cassette=self.model.cassette)
