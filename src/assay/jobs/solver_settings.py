"""What a run of a solver is given: its agent, its models by role, and its limits."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.agents.contract import Budget
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.cassette import Mode
from assay.agents.llm.client import Endpoint
from assay.agents.llm.local import NAME as LOCAL
from assay.agents.llm.local import open_endpoint
from assay.agents.llm.named import NamedModel
from assay.agents.llm.prices import Price
from assay.agents.sampling.recorded_model import NO_MODEL, ModelDefaults
from assay.harness.domain import Instance
from assay.harness.errors import UserError
from assay.harness.names import did_you_mean
from assay.jobs.evaluate import format_revision, run_name


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """The solver of a run, its model, and its limits."""

    agent: str
    agent_settings: tuple[str, ...] = ()
    """``KEY=VALUE`` each."""
    model: str = ""
    """The model of all roles that have none of their own."""
    base_url: str = ""
    serve: str = ""
    """Command of a server that answers at ``base_url``'s place, started for the run."""
    serve_wait: float = 1800.0
    """Seconds that it may take until it answers."""
    cassette: Path | None = None
    prices: Path | None = None
    samples: int = 1
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    total: BudgetLimits = BudgetLimits()  # noqa: RUF009 - frozen
    """What the run may pay, all shards together."""
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    named: Mapping[str, NamedModel] = field(default_factory=dict)
    """Models by role, ``model`` with the empty one if more than its name is known; see ``assign_models``."""

    @property
    def models(self) -> Mapping[str, NamedModel]:
        """Role to model; the empty role is for all that have none of their own."""
        usual = {"": NamedModel(name=self.model)} if self.model else {}
        return {**usual, **self.named}

    @property
    def own_prices(self) -> dict[str, Price]:
        return {each.endpoint_name: each.price for each in self.models.values() if each.price}

    @property
    def defaults(self) -> ModelDefaults:
        models = dict(self.models)
        usual = models.pop("", None)
        return ModelDefaults(
            model=self.model or NO_MODEL,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            usual=usual,
            roles=models,
        )

    def run_name(self, dataset: str) -> str:
        return run_name(dataset, "solve", *filter(None, (self.agent, self.defaults.label if self.models else "")))

    def list_inputs(self, instance: Instance, environment: str) -> dict[str, str]:
        """Return the settings that every solution depends on, by the name a person knows; budgets may be raised."""
        return {
            "the data set": format_revision(instance.dataset),
            "--agent": self.agent,
            "--set": " ".join(sorted(self.agent_settings)),
            "--model": " ".join(f"{role}={each.name}" if role else each.name for role, each in self.models.items()),
            "--temperature": _text(self.temperature),
            "--max-tokens": _text(self.max_tokens),
            "--seed": _text(self.seed),
            "--environment": environment,
        }


def check_roles(agent: str, known: Mapping[str, str], models: Mapping[str, NamedModel]) -> None:
    """Raise UserError if a model is for a role that the agent does not have, or a role has none."""
    for role in models:
        if role and role not in known:
            remedy = did_you_mean(role, known) if known else ": it asks one model; write --model NAME"
            raise UserError(f"the agent {agent} has no role {role!r}{remedy}")
    missing = [role for role in known if role not in models]
    if "" not in models and (missing or not known):
        of_all = f"; only {', '.join(models)} of its roles have one, not {', '.join(missing)}" if models else ""
        raise UserError(f"the agent {agent} asks a model; name one with --model (and --base-url){of_all}")


@contextmanager
def open_endpoints(
    models: Mapping[str, NamedModel], base_url: str, cassette: Path | None
) -> Iterator[tuple[dict[str, Endpoint], Mode]]:
    """Yield the endpoint of each role, and the mode of their recording; the model ``local`` is served once."""
    usual: dict[bool, tuple[Endpoint, Mode]] = {}
    endpoints: dict[str, Endpoint] = {}
    with ExitStack() as opened:
        for role, each in models.items():
            if each.base_url:
                endpoints[role] = Endpoint(base_url=each.base_url, key_env=each.key)
                continue
            is_local = each.name == LOCAL
            if is_local not in usual:
                usual[is_local] = opened.enter_context(open_endpoint(each.name, base_url, cassette))
            endpoints[role] = usual[is_local][0]
        modes = [mode for _, mode in usual.values()]
        yield endpoints, Mode.REPLAY if Mode.REPLAY in modes else Mode.AUTO


def sample_budget(
    cost: float | None,
    tokens: int | None,
    calls: int | None,
    seconds: float | None,
    *,
    steps: int | None,
    command_seconds: float,
) -> Budget:
    """Return the limits of one sample; None is no limit."""
    limits = BudgetLimits(cost=cost, tokens=tokens, calls=calls, seconds=seconds)
    return Budget(llm=limits, steps=steps, command_seconds=command_seconds)


def _text(value: float | None) -> str:
    return "" if value is None else str(value)
