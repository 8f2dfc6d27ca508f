"""What an image gives away: later commits, the gold patch, hidden tests, later releases, and secrets of its maker.

By ancestry and not by date: what the base commit or an ancestor of it holds is no leak. Every layer is read, since what
a later one removes is still in the image. A layer is read once; what the rules need of it is kept by its digest.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Model, TreeRef
from assay.harness.engines.base import Engine
from assay.harness.engines.layers import ImageConfig, Layered
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.harness.files import code_edition, read_model, replace_file
from assay.harness.names import count
from assay.instances.audit.finding import Severity
from assay.instances.leaks import answers, copies, repository, secrets
from assay.instances.leaks.facts import INSIDE, KeptLayer, LayerStore, merge_layers
from assay.instances.leaks.finding import AuditedImage, HiddenAnswer, ImageFinding, ImageRule
from assay.instances.leaks.reading import read_layer
from assay.instances.leaks.trees import KnownTrees
from assay.instances.leaks.unpacked import LARGEST, members
from assay.instances.trees.sources import Sources, tree_key, tree_ref

__all__ = ["RULES", "ImageAudit", "ImageFinding", "ImageReport", "ImageRule"]


class ImageReport(Model):
    image: str
    digest: str
    instance_id: str = ""
    """The instance whose answer was looked for; empty if only the rules that need none were applied."""
    layers: int = 0
    layers_read: int = 0
    """Layers that no earlier audit had read."""
    findings: tuple[ImageFinding, ...] = ()

    @property
    def faults(self) -> tuple[ImageFinding, ...]:
        """The findings for which an image must not be used."""
        return tuple(each for each in self.findings if each.severity is Severity.FAULT)


def _settings(image: AuditedImage, _answer: HiddenAnswer | None) -> Iterator[ImageFinding]:
    for found in secrets.search_config(image.config):
        yield ImageFinding(rule=ImageRule(found.rule), severity=Severity.FAULT, path=found.path, what=found.what)


def _files(image: AuditedImage, answer: HiddenAnswer | None) -> Iterator[ImageFinding]:
    public = answer.list_allowed() if answer else frozenset[str]()
    packaged = {each for layer in image.layers for each in layer.facts.packaged.items()}
    for number, layer in enumerate(image.layers):
        for found in layer.facts.secrets:
            if layer.facts.files.get(found.path) not in public and (found.path, found.md5) not in packaged:
                yield image.finding(ImageRule(found.rule), number, found.path, found.what)


def _certificates(image: AuditedImage, _answer: HiddenAnswer | None) -> Iterator[ImageFinding]:
    for number, found in secrets.find_certificates([layer.facts.certificates for layer in image.layers]):
        severity = Severity.DOUBT if copies.is_packaged(found.path) else Severity.FAULT
        yield image.finding(ImageRule.CA, number, found.path, found.what, severity)


RULES: tuple[Callable[[AuditedImage, HiddenAnswer | None], Iterable[ImageFinding]], ...] = (
    repository.refs,
    _settings,
    _files,
    _certificates,
)
"""Rules that apply to any image."""
ANSWER_RULES: tuple[Callable[[AuditedImage, HiddenAnswer], Iterable[ImageFinding]], ...] = (
    repository.objects,
    answers.gold,
    answers.tests,
    answers.test_ids,
    copies.later_release,
)
"""Rules that need to know the image's instance."""


DECIDING = (Path(__file__).parent, Path(__file__).parent.parent / "audit")
"""Code that decides a report: the rules, and the room with the names of tests."""


class ImageAudit:
    """Audits images of one engine; safe for several threads and processes on one cache, which keeps what was read."""

    def __init__(self, engine: Engine, sources: Sources) -> None:
        self._engine = engine
        self._folder = sources.cache / "audits"
        self._layers = LayerStore(self._folder)
        self._trees = KnownTrees(sources, self._folder)

    def report(
        self, image: str, instance: Instance | None = None, below: Iterable[TreeRef] = (), *, strict: bool = True
    ) -> ImageReport:
        """Search an image for leaks; the answer for the same image and instance is kept.

        Args:
            image: present on the engine.
            instance: whose image it is; None applies only the rules that need none.
            below: trees of ancestors of its base commit, which lower layers may hold.
            strict: whether the image was made here, where a container must not even see an ancestor's objects.

        Raises:
            ImageMissing: there is no such image. EngineError: the engine cannot show layers.
            EnvironmentFailure: the base tree cannot be had.
        """
        info = self._engine.find_image(image)
        config = self._layered.image_config(image)
        about = _identity(instance, below, strict=strict)
        name = sha256(f"{info.digest if info else ''} {config} {about}".encode()).hexdigest()[:32]
        kept = self._folder / f"reports-{code_edition(*DECIDING)}" / f"{name}.json"
        report = read_model(kept, ImageReport)
        if report is None:
            answer = self._answer(instance, tuple(below)) if instance else None
            report = self._audit(image, info.digest if info else "", config, answer, strict=strict)
            replace_file(kept, report.model_dump_json().encode())
        else:
            report = report.model_copy(update={"image": image, "layers_read": 0})
        return report

    def require(self, image: str, instance: Instance, below: Iterable[TreeRef] = ()) -> None:
        if faults := self.report(image, instance, below).faults:
            listed = "".join(f"\n  {each}" for each in faults[:SHOWN])
            more = f"\n  and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
            raise EnvironmentFailure(f"the audit of image {image} failed:{listed}{more}")

    def _answer(self, instance: Instance, below: tuple[TreeRef, ...]) -> HiddenAnswer:
        ref = tree_ref(instance)
        return HiddenAnswer(instance, self._trees.objects(ref), ref, below, self._trees)

    def _audit(
        self, image: str, digest: str, config: ImageConfig, answer: HiddenAnswer | None, *, strict: bool
    ) -> ImageReport:
        layers, read = self._keep_layers(image, config)
        audited = AuditedImage(
            name=image,
            config=config,
            layers=layers,
            seen=merge_layers([layer.facts for layer in layers]),
            read=lambda number: self._read_again(image, layers[number].digest),
            strict=strict,
        )
        findings = [found for rule in RULES for found in rule(audited, answer)]
        if answer:
            findings += [found for rule in ANSWER_RULES for found in rule(audited, answer)]
        return ImageReport(
            image=image,
            digest=digest,
            instance_id=answer.instance.id if answer else "",
            layers=len(layers),
            layers_read=read,
            findings=tuple(dict.fromkeys(findings)),
        )

    def _keep_layers(self, image: str, config: ImageConfig) -> tuple[tuple[KeptLayer, ...], int]:
        found = {digest: layer for digest in config.layers if (layer := self._layers.load(digest))}
        missing = set(config.layers) - found.keys()
        if missing:
            for unread in self._layered.read_layers(image, lambda key: self._layers.find_digest(key) in {"", *missing}):
                found[unread.digest] = KeptLayer(unread.digest, *read_layer(unread.files))
                self._layers.keep(unread.key, found[unread.digest])
        if absent := set(config.layers) - found.keys():
            raise EngineError(f"the engine did not show {count(len(absent), 'layer')} of {image}")
        return tuple(found[digest] for digest in config.layers), len(missing)

    def _read_again(self, image: str, digest: str) -> Iterator[tuple[str, bytes]]:
        for layer in self._layered.read_layers(image, lambda key: self._layers.find_digest(key) == digest):
            for file in layer.files:
                if file.open is None:
                    continue
                with file.open() as stream:
                    data = stream.read(LARGEST)
                yield file.path, data
                for name, content in members(file.path, data):
                    yield f"{file.path}{INSIDE}{name}", content

    @property
    def _layered(self) -> Layered:
        if self._engine.layered is None:
            raise EngineError(f"the engine {self._engine.name} does not show the layers of images")
        return self._engine.layered


SHOWN = 5  # findings that an error lists


def _identity(instance: Instance | None, below: Iterable[TreeRef], *, strict: bool) -> str:
    """Return a text that differs wherever an audit's answer may."""
    if instance is None:
        return str(strict)
    hidden = (instance.id, instance.gold_patch, instance.test_patch, instance.fail_to_pass, instance.version)
    return repr((strict, hidden, tree_key(tree_ref(instance)), [tree_key(ref) for ref in below]))
