"""Martínez 2010: masking open answers by meaning, judged by similarity, group sizes, clusterings and record linkage."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kanopy._progress import SILENT, Progress
from kanopy._table.survey import ad_hoc_hierarchy, survey
from kanopy.masking.evaluation import CLUSTERS, Evaluation, unmasked
from kanopy.masking.masking_result import Masked
from kanopy.masking.table import MaskingTable
from kanopy.report.drawings.dendrogram import dendrogram_svg
from kanopy.report.drawings.tree import tree_svg
from kanopy_papers.martinez_appended import one_question_papers
from kanopy_papers.martinez_bench import (
    CLUSTERING_K,
    MEASURES,
    RANDOM_SEEDS,
    SIMILAR,
    TEXT,
    Bench,
    Curve,
    above,
    curve_figure,
    curve_table,
    mean,
    run,
)
from kanopy_papers.martinez_clusters import (
    both_ontologies,
    cluster_claims,
    crossed_claims,
    crossed_distances,
    cut_claims,
    variance_ratios,
)
from kanopy_papers.martinez_tables import thesis_tables
from kanopy_papers.reproduction import Claim, Figure, Picture, Reproduction, Table, at_every, verdict

ALL_K = tuple(range(2, 21))
QUICK_K = (2, 5, 10, 15, 20)
HEURISTICS = {"none": "", "H1": "1", "H1 + H2": "12", "H1 + H2 + H3": "123"}
UNMASKED_LINKAGE = 21.641


def reproduce(*, quick: bool = False, progress: Progress = SILENT, ratings: Sequence[Path] = ()) -> Reproduction:
    """Rerun the comparisons of sections 5.1 to 5.6, and of the appended papers, on surveys with the same profiles.

    `ratings` are files `word,word,rating` for Table 4: up to 30 pairs are Miller and Charles', more Rubenstein and
    Goodenough's.
    """
    ks = QUICK_K if quick else ALL_K
    bench = Bench(survey())
    tables = {name: bench.table(measure) for name, measure in MEASURES.items()}
    judged = {"Wu & Palmer": tables["Wu & Palmer"], "Path length": tables["Path length"]}
    vgh = bench.table(ontology=ad_hoc_hierarchy())
    progress("masking the survey", 0.0, "measures")
    by_measure = {name: [run(table, k) for k in ks] for name, table in tables.items()}
    single = {name: bench.table(MEASURES[name], text=TEXT[:1]) for name in ("Path length", "Leacock & Chodorow")}
    by_single = {name: [run(table, k) for k in ks] for name, table in single.items()}
    progress("masking the survey", 0.3, "heuristics")
    main = tables["Wu & Palmer"]
    by_heuristics = {
        name: [[run(main, k, heuristics=on, seed=seed) for seed in _seeds(on)] for k in ks]
        for name, on in HEURISTICS.items()
    }
    progress("masking the survey", 0.6, "guides")
    guided: dict[str, list[list[Masked]]] = {
        "semantic": [[masked] for masked in by_measure["Wu & Palmer"]],
        "discernibility": [[run(main, k, guide="discernibility")] for k in ks],
        "random": [[run(main, k, guide="random", seed=seed) for seed in RANDOM_SEEDS] for k in ks],
        "random by record": [[run(main, k, guide="random-record", seed=seed) for seed in RANDOM_SEEDS] for k in ks],
        "VGH": [[run(vgh, k)] for k in ks],
        "refined": [[run(main, k, search="refined")] for k in ks],
    }
    progress("masking the survey", 0.8, "clusterings")
    quality = {name: mean(main, runs, ks, "semantic_quality") for name, runs in guided.items()}
    linkage = {name: mean(main, runs, ks, "record_linkage_percent") for name, runs in guided.items()}
    dm = {name: mean(main, runs, ks, "dm") for name, runs in guided.items()}
    distance = {name: mean(judged["Path length"], runs, ks, "semantic_quality") for name, runs in guided.items()}
    measured = {
        scale: {name: mean(table, [[m] for m in by_measure[name]], ks, "semantic_quality") for name in MEASURES}
        for scale, table in judged.items()
    }
    ablation = {name: mean(main, runs, ks, "semantic_quality") for name, runs in by_heuristics.items()}
    clusterings = {
        name: [float(np.mean([Evaluation(main, m, k).clustering.distance(CLUSTERS) for m in runs]))
               for k, runs in zip(ks, guided[name], strict=True)]
        for name in ("semantic", "VGH", "discernibility", "random", "refined")
    }  # fmt: skip
    at_five = {name: guided[name][list(ks).index(CLUSTERING_K)][0] for name in ("semantic", "VGH", "discernibility")}
    crossed = crossed_distances(main, at_five)
    over_two = crossed_distances(both_ontologies(main, vgh), at_five)
    cuts = variance_ratios(main, at_five)
    times = _times(bench, main, ks)
    before = Evaluation(main, unmasked(main), 1)
    alone = one_question_papers(quick=quick, progress=progress)
    stated, table_claims = thesis_tables(ratings)
    claims = (
        *_measure_claims(measured, by_measure, by_single, ks),
        *_heuristic_claims(ablation, ks),
        *_guide_claims(quality, dm, ks),
        *cluster_claims(clusterings, ks),
        *crossed_claims(crossed, over_two),
        *cut_claims(cuts),
        *_linkage_claims(linkage, before, ks),
        *_time_claims(times),
        *_refined_claims(quality, linkage, ks),
        *alone.claims,
        *table_claims,
    )
    return Reproduction(
        key="martinez2010",
        title="Masking open answers by meaning, rerun",
        citation="S. Martínez Lluís: Privacy Preserving in Categorical Microdata Using Semantic Knowledge. "
        "Master thesis, June 2010.",
        introduction="The park survey behind the thesis is not public. This survey has its exact repetition profile "
        "(975 records, 211 pairs of answers, 118 unique) over a word list of our own, so whatever group sizes decide "
        "must agree and whatever meaning decides can only be compared in direction. WordNet is version 3.0 here, 2.1 "
        "there.",
        claims=claims,
        conventions=(
            "Similarity of two answers is the maximum over their senses; senses are not chosen.",
            "Any answer may replace another, as in the thesis (`targets=any`); Kanopy's own default publishes only "
            "answers that k people gave.",
            "H3 looks at the size after that fusion; the printed equation 20 never decides anything.",
            "The one-question survey of the IPMU and MDAI papers has its exact repetition profile too (975 records, "
            "221 answers, 84 unique), over words of our own.",
            "k of the clusterings is 5, which the appended Information Fusion paper names.",
            "Random substitution by tuple moves all records of a group together; by record (Figure 8's naive "
            "replacement) each record goes where chance sends it, in alphabetical order, until its group is safe.",
        ),
        tables=(
            curve_table(
                "measures", ks, {f"{n} judged by {s}": c for s, curves_of_guide in measured.items() for n,
                c in curves_of_guide.items()}
            ),
            curve_table("heuristics", ks, ablation),
            curve_table("semantic_quality", ks, quality),
            curve_table("path_length", ks, distance),
            curve_table("discernibility", ks, dm),
            curve_table("record_linkage_percent", ks, linkage),
            curve_table("cluster_distance", ks, clusterings),
            Table("cluster_distance_between", ("first", "second", "distance"), crossed),
            Table("cluster_distance_two_ontologies", ("first", "second", "distance"), over_two),
            curve_table("variance_ratio", range(2, CLUSTERS + 1), cuts),
            Table("run_time", ("k", "seconds to mask"), tuple(zip(ks, times["mask"], strict=True))),
            *alone.tables,
            *stated,
        ),
        pictures=_pictures(main, guided, ks),
        figures=_figures(ks, measured, ablation, quality, distance, dm, clusterings, linkage, times) + alone.figures,
        data={
            "k": list(ks), "semantic_quality": quality, "record_linkage_percent": linkage, "dm": dm,
            "heuristics": ablation, "measures": measured, "cluster_distance": clusterings,
            "unmasked_record_linkage_percent": before.record_linkage_percent,
            "seconds": {"similarities": times["similarities"], "mask": times["mask"]},
        },
        quick=quick,
    )  # fmt: skip


def _seeds(heuristics: str) -> Sequence[int]:
    return (0,) if "2" in heuristics else RANDOM_SEEDS


def _pictures(table: MaskingTable, guided: dict[str, list[list[Masked]]], ks: Sequence[int]) -> tuple[Picture, ...]:
    """Figure 9, and the dendrograms of Figures 10 to 13."""
    at = list(ks).index(CLUSTERING_K)
    drawn = [Picture("figure9", "Corresponds to Fig. 9: an ad-hoc hierarchy of ours.", tree_svg(ad_hoc_hierarchy()))]
    captions = {
        "semantic": "semantic masking",
        "discernibility": "masking by discernibility",
        "VGH": "masking by Fig. 9",
    }
    for number, name in enumerate(("", *captions), 10):
        both = Evaluation(table, guided[name][at][0] if name else unmasked(table), CLUSTERING_K).clustering
        tree, leaf = (both.after, both.shown) if name else (both.before, both.origin)
        people = np.bincount(leaf, weights=both.people, minlength=tree.leaves)
        words = f"Fig. {number}: Ward clustering " + (f"after {captions[name]}" if name else "of the original")
        caption = f"Corresponds to {words}, k = {CLUSTERING_K}, cut into {CLUSTERS}."
        drawn.append(Picture(f"figure{number}", caption, dendrogram_svg(tree, people, CLUSTERS, words)))
    return tuple(drawn)


def _times(bench: Bench, table: MaskingTable, ks: Sequence[int]) -> dict[str, Any]:
    started = time.perf_counter()
    bench.table()
    similarities = time.perf_counter() - started
    seconds = []
    for k in ks:
        started = time.perf_counter()
        run(table, k)
        seconds.append(time.perf_counter() - started)
    return {"similarities": similarities, "mask": seconds}


def _measure_claims(
    measured: dict[str, dict[str, Curve]],
    by_measure: dict[str, list[Masked]],
    by_single: dict[str, list[Masked]],
    ks: Sequence[int],
) -> list[Claim]:
    measured_curves = measured["Wu & Palmer"]
    best = [
        all(measured_curves["Wu & Palmer"][i] >= measured_curves[name][i] for name in measured_curves)
        for i in range(len(ks))
    ]
    curves = np.array(list(measured_curves.values()))
    correlation = np.corrcoef(curves)[np.triu_indices(len(curves), 1)]
    same = [
        np.array_equal(a.published, b.published)
        for a, b in zip(by_measure["Path length"], by_measure["Leacock & Chodorow"], strict=True)
    ]
    alone = [
        np.array_equal(a.published, b.published)
        for a, b in zip(by_single["Path length"], by_single["Leacock & Chodorow"], strict=True)
    ]
    return [
        Claim("The three edge-counting measures give very similar and highly correlated quality (5.1).", "Fig. 2 and 3",
              f"correlations of the curves over k: {correlation.min():.3f} to {correlation.max():.3f}",
              verdict(bool(correlation.min() > 0.9))),
        Claim("Guiding by Wu & Palmer keeps most similarity, judged by Wu & Palmer (5.1).",
              "k = 8–10 and 12–15 stand out",
              f"at least as high as both others {at_every(best, ks)}", verdict(all(best))),
        Claim("Path length and Leacock & Chodorow give identical results (5.1).", "identical",
              f"identical {at_every(same, ks)}", verdict(all(same)),
              why="Both order single values alike, but means of two attributes need not: the logarithm is not linear."),
        Claim("Path length and Leacock & Chodorow give identical results for one attribute.", "identical",
              f"identical {at_every(alone, ks)}", verdict(all(alone)), source="ours"),
    ]  # fmt: skip


def _heuristic_claims(ablation: dict[str, Curve], ks: Sequence[int]) -> list[Claim]:
    none, first, second, third = (np.array(ablation[name]) for name in HEURISTICS)
    one, two, three = first - none, second - first, third - second
    return [
        Claim("The first heuristic improves slightly on random substitution (5.2).", "Fig. 4",
              f"by {one.mean():+.4f} on average; {at_every([bool(x > 0) for x in one], ks)}",
              verdict(bool(one.mean() > 0))),
        Claim("The second heuristic brings the most significant improvement (5.2).", "Fig. 4",
              f"by {two.mean():+.4f} on average; {at_every([bool(x > 0) for x in two], ks)}",
              verdict(bool((two > np.abs(one)).all() and (two > np.abs(three)).all()))),
        Claim("The third heuristic brings a very slight improvement in some situations (5.2).", "Fig. 4",
              f"by {three.mean():+.4f} on average, from {three.min():+.4f} to {three.max():+.4f}",
              verdict(bool((three > 0).any())),
              why="It only orders fusions of equal similarity, and each of them takes the smallest of its tied targets "
              "anyway: with a symmetric measure, whichever goes first, the end is the same."),
        Claim("All three together clearly beat random substitution, above all for k > 5 (5.2).", "Fig. 4",
              f"{at_every([bool(x > 0) for x in third - none], ks)}; by {(third - none).min():.4f} to "
              f"{(third - none).max():.4f}", verdict(bool((third > none).all()))),
    ]  # fmt: skip


def _guide_claims(quality: dict[str, Curve], dm: dict[str, Curve], ks: Sequence[int]) -> list[Claim]:
    over_dm, over_random, over_records = (
        above(quality["semantic"], quality[name]) for name in ("discernibility", "random", "random by record")
    )
    lower = above(dm["semantic"], dm["discernibility"])
    gap = np.abs(np.array(quality["discernibility"]) - np.array(quality["random"]))
    lead = np.array(quality["semantic"]) - np.maximum(quality["discernibility"], quality["random"])
    return [
        Claim("Semantic guidance keeps more meaning than the discernibility metric (5.3).", "Fig. 5 and 6",
              f"{at_every(over_dm, ks)}", verdict(all(over_dm))),
        Claim("Semantic guidance keeps more meaning than random substitution (5.3).", "Fig. 8",
              f"{at_every(over_random, ks)}", verdict(all(over_random))),
        Claim("Semantic guidance keeps more meaning than naive replacement of records at random (5.3).", "Fig. 8",
              f"{at_every(over_records, ks)}", verdict(all(over_records))),
        Claim("The discernibility metric gives a better discernibility (5.3).", "Fig. 7",
              f"lower {at_every(lower, ks)}", verdict(all(lower))),
        Claim("Discernibility and random substitution are similar in meaning, both worse than semantic guidance (5.3).",
              "Fig. 8", f"they differ by {gap.mean():.4f} on average; the semantic lead over the better one is "
              f"{lead.mean():.4f}", verdict(bool(gap.mean() < lead.mean()))),
    ]  # fmt: skip


def _linkage_claims(linkage: dict[str, Curve], before: Evaluation, ks: Sequence[int]) -> list[Claim]:
    falling = [b <= a for a, b in zip(linkage["semantic"], linkage["semantic"][1:], strict=False)]
    under: Callable[[str], list[bool]] = lambda name: above(linkage[name], linkage["semantic"])  # noqa: E731
    return [
        Claim("Unmasked, record linkage by exact text is 211 of 975 records (Table 5, eq. 27).",
              f"{UNMASKED_LINKAGE} %", f"{before.record_linkage_percent:.3f} %",
              verdict(round(before.record_linkage_percent, 3) == UNMASKED_LINKAGE)),
        Claim("Record linkage falls as k grows (5.5).", "Fig. 14",
              f"in {sum(falling)} of {len(falling)} steps", verdict(all(falling))),
        Claim("Semantic masking has lower record linkage than the discernibility metric (5.5).", "Fig. 14",
              at_every(under("discernibility"), ks), verdict(all(under("discernibility")))),
        Claim("Semantic masking has lower record linkage than masking by an ad-hoc hierarchy (5.5).", "Fig. 14",
              at_every(under("VGH"), ks), verdict(all(under("VGH"))),
              why="Linkage by exact text is the number of groups over the number of records, whatever they mean."),
        Claim("Semantic masking has lower record linkage than random substitution (not claimed; for comparison).",
              "not compared", at_every(under("random"), ks), verdict(all(under("random"))), source="ours",
              why="A random target is as good a hiding place as a similar one: low linkage is no merit of meaning."),
    ]  # fmt: skip


def _time_claims(times: dict[str, Any]) -> list[Claim]:
    seconds = times["mask"]
    return [
        Claim("The survey can be masked in a second or two, once similarities are known (5.6).",
              "6.33 minutes + 1.2 to 1.6 s",
              f"{times['similarities'] * 1000:.0f} ms + {min(seconds) * 1000:.1f} to {max(seconds) * 1000:.1f} ms",
              verdict(max(seconds) < 1.6),
              why="Another machine and language, and the same result without comparing all pairs in every step."),
    ]  # fmt: skip


def _refined_claims(quality: dict[str, Curve], linkage: dict[str, Curve], ks: Sequence[int]) -> list[Claim]:
    gain = np.array(quality["refined"]) - np.array(quality["semantic"])
    more = np.mean(linkage["refined"]) / np.mean(linkage["semantic"])
    return [
        Claim("A search beyond the greedy algorithm keeps more meaning at equal k (ours, not in the thesis).", "–",
              f"{at_every([bool(x > 0) for x in gain], ks)}; by {gain.min():.4f} to {gain.max():.4f}",
              verdict(bool((gain > 0).all())), source="ours",
              why=f"It keeps more, smaller groups, so record linkage is {more:.2f} times as high on average."),
    ]  # fmt: skip


def _figures(
    ks: Sequence[int],
    measured: dict[str, dict[str, Curve]],
    ablation: dict[str, Curve],
    quality: dict[str, Curve],
    distance: dict[str, Curve],
    dm: dict[str, Curve],
    clusterings: dict[str, Curve],
    linkage: dict[str, Curve],
    times: dict[str, Any],
) -> tuple[Figure, ...]:
    guides = ("semantic", "discernibility", "random", "random by record")

    def pick(curves: dict[str, Curve]) -> dict[str, Curve]:
        return {name: curves[name] for name in guides}

    return (
        curve_figure("measures_wu_palmer", "Corresponds to Fig. 2.", ks, measured["Wu & Palmer"],
                "Which measure guides", SIMILAR),
        curve_figure("measures_path", "Corresponds to Fig. 3 (negated: 0 is equal, higher is better).", ks,
                measured["Path length"], "Which measure guides", "mean of minus the path length"),
        curve_figure("heuristics", "Corresponds to Fig. 4. Without H2 the mean of five seeds.", ks, ablation,
                "What each heuristic adds", SIMILAR),
        curve_figure("guides", "Corresponds to Fig. 5 and 8.", ks, pick(quality), "Meaning that is kept", SIMILAR),
        curve_figure("guides_path", "Corresponds to Fig. 6 (negated).", ks, pick(distance), "Meaning that is kept",
                "mean of minus the path length"),
        curve_figure("discernibility", "Corresponds to Fig. 7.", ks, pick(dm), "Discernibility",
                "sum of squared group sizes"),
        curve_figure("clusters", "Corresponds to Table 6, for every k.", ks, clusterings, "Distance of clusterings",
                f"distance to the original's {CLUSTERS} clusters; 0 is equal"),
        curve_figure("linkage", "Corresponds to Fig. 14.", ks, linkage, "Record linkage", "records found, in percent"),
        curve_figure("run_time", "Corresponds to Fig. 15.", ks, {"masking": [1000 * s for s in times["mask"]]},
                "Run time", "milliseconds to mask the survey"),
        curve_figure("refined", "Not in the thesis: the refined search.", ks,
                {"greedy": quality["semantic"], "refined": quality["refined"]}, "Beyond the greedy algorithm", SIMILAR),
    )  # fmt: skip
