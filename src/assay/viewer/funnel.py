"""The funnel of a collection as a page of its own: what each phase kept, and the rules that dropped the rest."""

from collections.abc import Sequence

from assay.instances.collect.funnel import FunnelPhase
from assay.viewer import assets
from assay.viewer.charts import WIDTH, Bar, FigureTable, Label, Picture, Scale
from assay.viewer.rendering import make_environment

LEFT, RIGHT = 90, WIDTH - 110
HEIGHT = 24


def funnel_page(title: str, phases: Sequence[FunnelPhase]) -> str:
    """Return an HTML page that needs no other file."""
    from markupsafe import Markup

    template = make_environment().get_template("funnel.html")
    style = Markup((assets.read("viewer.css") or b"").decode())  # Assay's own, and no text of a collection
    return template.render(title=title, style=style, chart=funnel_picture(phases))


def funnel_picture(phases: Sequence[FunnelPhase]) -> Picture:
    """Return a bar for each phase, and below it one for each rule that dropped candidates."""
    scale = Scale(0, max((each.taken for each in phases), default=0), 0, RIGHT - LEFT)
    boxes, labels, y = [], [], 4
    for phase in phases:
        kept = scale(phase.kept)
        boxes.append(Bar(LEFT, y, kept, HEIGHT - 7, "fill-resolved", f"{phase.phase}: {phase.kept} kept"))
        labels.append(Label(LEFT - 8, y + 13, str(phase.phase), "end"))
        labels.append(Label(LEFT + kept + 6, y + 13, f"{phase.kept:,} of {phase.taken:,}", kind="label muted"))
        y += HEIGHT
        for rule, number in phase.dropped.items():
            boxes.append(Bar(LEFT, y, scale(number), HEIGHT - 15, "fill-unresolved", f"{rule}: {number} fell out"))
            labels.append(Label(LEFT + scale(number) + 6, y + 9, f"{number:,} {rule}", kind="label muted"))
            y += HEIGHT - 8
    return Picture(
        name="funnel",
        title="Candidates by phase",
        description=f"A bar for each of {len(phases)} phases, and one for each rule by which candidates fell out.",
        height=y + 4,
        table=FigureTable(
            ("phase", "candidates", "kept", "fell out"),
            tuple((str(each.phase), str(each.taken), str(each.kept), each.why) for each in phases),
        ),
        boxes=tuple(boxes),
        labels=tuple(labels),
        legend=(("fill-resolved", "kept"), ("fill-unresolved", "fell out")),
    )
