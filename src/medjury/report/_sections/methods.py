"""The methods paragraph: what was done, with seeds, versions, formulas and citations, ready for a paper."""

from __future__ import annotations

from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, moment
from medjury.validation import Evidence

_CITATIONS = (
    (
        "weighted kappa",
        "κ = 1 − Σ w·observed / Σ w·expected, w = (i − j)², over the full scale",
        "Cohen (1968) Psychol Bull 70:213-220",
    ),
    (
        "ICC(2,1)",
        "two-way random effects, absolute agreement, single rater",
        "Shrout & Fleiss (1979) Psychol Bull 86:420-428",
    ),
    (
        "Krippendorff's alpha",
        "α = 1 − observed / expected disagreement, ordinal metric",
        "Hayes & Krippendorff (2007) Commun Methods Meas 1:77-89",
    ),
    (
        "Gwet's AC2",
        "chance agreement from the mean share of each grade, quadratic weights",
        "Gwet (2014) Handbook of Inter-Rater Reliability",
    ),
    ("Spearman's rho", "Pearson's correlation of mid-ranks", "Spearman (1904) Am J Psychol 15:72-101"),
    (
        "offset, limits of agreement",
        "mean difference ± 1.96 SD of differences",
        "Bland & Altman (1986) Lancet 327:307-310",
    ),
    (
        "bootstrap interval",
        "bias-corrected and accelerated, whole cases resampled",
        "Efron (1987) J Am Stat Assoc 82:171-185",
    ),
    ("interval of a rate", "exact binomial", "Clopper & Pearson (1934) Biometrika 26:404-413"),
    (
        "tie groups of a ranking",
        "single-step maximum over all pairs; compact letters",
        "Romano & Wolf (2005) JASA 100:94-108; Piepho (2004) J Comput Graph Stat 13:456-466",
    ),
    (
        "calibration",
        "isotonic regression, cross-fitted in folds of whole cases",
        "Barlow et al. (1972) Statistical Inference under Order Restrictions",
    ),
)


def section(material: Material) -> Section:
    evidence, manifest = material.evidence, material.evidence.manifest
    facts = [
        ("medjury", manifest.get("medjury")),
        ("run", manifest.get("run")),
        (
            "started, finished",
            f"{moment(manifest.get('started_at', '–'))}, {moment(manifest.get('finished_at', '–'))}",
        ),
        (
            "Python and packages",
            ", ".join(
                [
                    f"Python {manifest.get('python', '–')}",
                    *(f"{name} {version}" for name, version in manifest.get("packages", {}).items()),
                ]
            ),
        ),
        ("hash of the study file", manifest.get("study_file_hash")),
        ("hash of the data", manifest.get("data_hash")),
        ("instrument fingerprint", manifest.get("instrument", {}).get("fingerprint")),
        ("prompt version", manifest.get("prompt_version")),
        (
            "seed and resamples of the intervals",
            f"{evidence.settings.seed}, up to {evidence.settings.resamples:,}",
        ),
        (
            "hosts allowed",
            ", ".join(manifest.get("allow_hosts", ())) or "none: everything stayed on this machine",
        ),
        ("redacted before judging", "yes" if manifest.get("redacted") else "no"),
    ]
    listed = Html(
        "".join(element("dt", name) + element("dd", "–" if value is None else value) for name, value in facts)
    )
    rows: list[tuple[Cell, ...]] = [tuple(each) for each in _CITATIONS]
    table = material.exhibits.table(
        "methods", ("statistic", "formula", "reference"), rows, caption="What the numbers are"
    )
    return Section(
        "methods",
        "Methods",
        Html(paragraph(_paragraph(evidence)) + _judges(material) + table + element("dl", listed)),
    )


def _paragraph(evidence: Evidence) -> str:
    manifest, rules = evidence.manifest, evidence.rules
    instrument, jury = manifest.get("instrument", {}), manifest.get("jury", {})
    humans = counted(len(evidence.clinicians), "clinician") if evidence.clinicians else "no clinician"
    repeats = counted(int(jury.get("repeats", 1)), "repeat")
    text = (
        f"{manifest.get('cases', 0):,} answers were graded with the instrument {instrument.get('name', '–')} "
        f"{instrument.get('version', '')} by {counted(len(evidence.judges), 'language-model judge')}, "
        f"{repeats} each, "
        f"whose votes were combined by {jury.get('rule', 'mean')}, and by {humans}. A call that failed, "
        "was refused or "
        "could not be read was kept as missing with its reason and never given a score. "
    )
    if evidence.clinicians:
        text += (
            "Agreement was computed on held-out cases over the full scale of the instrument; 95 % "
            "intervals are "
            "bias-corrected and accelerated bootstrap intervals that resample whole cases (seed "
            f"{evidence.settings.seed}). "
            "Scores between grades were rounded half up where grades are counted. The jury's agreement "
            "with single "
            "clinicians was compared with the clinicians' own on the same cases and the same resamples, with a "
            f"non-inferiority margin of {rules.margin:g}. A severe error is an answer that clinicians "
            "placed in the lowest "
            f"{100 * rules.danger:g} % of the scale and the jury at least {100 * rules.gap:g} % of the "
            "scale higher. "
        )
        if len(evidence.judges) > 1:
            text += (
                "Ways of judging were compared on the answers that clinicians and every rater had scored, by the "
                "mean over dimensions of the same statistic; differences come from the same resamples of cases. "
            )
    return text + "Analyses were made with Medjury " + str(manifest.get("medjury", "")) + "."


def _judges(material: Material) -> Html:
    rows: list[tuple[Cell, ...]] = []
    for judge in material.evidence.manifest.get("judges", ()):
        for model in judge.get("models", ()):
            name = model.get("model") or model.get("file") or model.get("name")
            rows.append(
                (
                    str(judge.get("name")),
                    str(model.get("kind", "–")),
                    str(name),
                    str(model.get("vendor", "–")),
                    str(model.get("host") or "this machine"),
                    str(judge.get("temperature", "–")),
                    str(judge.get("seed", "–")),
                    str(judge.get("settings_hash", "–"))[:12],
                )
            )
    return material.exhibits.table(
        "judges",
        ("judge", "endpoint", "model", "vendor", "host", "temperature", "seed", "settings"),
        rows,
        caption="The judges",
    )
