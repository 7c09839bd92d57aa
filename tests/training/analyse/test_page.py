"""The page says what was measured, what was not, and reads what is stored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from training.analyse.command import analyse_results
from training.analyse.findings import findings
from training.analyse.outcomes import read_results

ROOT = Path(__file__).resolve().parents[3]
ABOUT = 'policy = "toy"\nhead_seed = 1\n'


def alike(now: object, kept: object) -> bool:
    """Equal but for the ends of intervals, which may differ a little with numpy's random streams."""
    if isinstance(now, dict) and isinstance(kept, dict):
        return now.keys() == kept.keys() and all(alike(now[key], kept[key]) for key in now)
    if isinstance(now, list) and isinstance(kept, list):
        return len(now) == len(kept) and all(alike(*both) for both in zip(now, kept, strict=True))
    return now == pytest.approx(kept, abs=0.02) if isinstance(now, float) else now == kept


def line(split: str, seed: int, success: bool, ratio: float = 0.2, **more) -> str:
    facts = {
        "split": split, "object": "red cube", "receptacle": "box", "seed": seed, "success": success, "rows": 40,
        "misplaced": None, "ratios": [ratio, ratio / 2], "phases": ["approach", "grasp"], "replan_ms": [10.0, 12.0],
    }  # fmt: skip
    return json.dumps({**facts, **more}) + "\n"


def folder(root: Path, name: str, about: str, **files: str) -> Path:
    made = root / name
    made.mkdir(parents=True)
    (made / "about.toml").write_text(ABOUT + about)
    for file, content in files.items():
        (made / f"{file.replace('__', '-')}.jsonl").write_text(content)
    return made


def test_what_is_stored_in_the_repository_is_read_and_the_page_is_up_to_date(tmp_path: Path) -> None:
    analyse_results(ROOT / "docs/results/raw", tmp_path, lambda text: None)
    now, kept = (json.loads((place / "results.json").read_text()) for place in (tmp_path, ROOT / "docs/results"))
    assert alike(now, kept), "run `make results`"
    assert (ROOT / "docs/results/index.html").stat().st_size > 10_000


def test_nothing_on_the_page_comes_from_elsewhere(tmp_path: Path) -> None:
    analyse_results(ROOT / "docs/results/raw", tmp_path, lambda text: None)
    text = (tmp_path / "index.html").read_text()
    assert not re.search(r"(src|href)=\"(?!#)", text) and "<script" not in text and "@import" not in text


def test_figures_of_the_contract_are_there_with_value_interval_and_count_or_a_reason(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    found = findings(read_results(tmp_path))
    wanted = [
        found["id_success"],
        *(found["ood_success"][mode] for mode in ("off", "constant", "adaptive", "inverted")),
    ]
    wanted += [found["ablation"]["masked"]["id"], found["tr_phase_effect"], found["tr_ood_spearman"]]
    for one in wanted:
        assert {"value", "interval", "count"} <= one.keys()
        assert one["value"] is not None or one["reason"]
    assert found["id_success"]["value"] == 1.0
    assert found["ood_success"]["off"]["value"] is None


def test_a_future_that_matters_is_said_to_matter_and_one_that_does_not_is_not(tmp_path: Path) -> None:
    kept = "".join(line("id", i, True) for i in range(30))
    lost = "".join(line("id", i, i % 3 == 0) for i in range(30))
    about = 'use = ["headline", "ablation"]\n'
    folder(tmp_path / "a", "x", about, rotation0__kept=kept, rotation0__masked=lost, rotation0__swapped=kept)
    folder(tmp_path / "b", "x", about, rotation0__kept=kept, rotation0__masked=kept)
    pages = []
    for name in ("a", "b"):
        analyse_results(tmp_path / name, tmp_path / "out" / name, lambda text: None)
        pages.append((tmp_path / "out" / name / "index.html").read_text())
    assert "The policy uses its future: success falls with future masked." in pages[0]
    assert "the video does not help" in pages[1] and "uses its future" not in pages[1]


def test_arms_that_do_the_imagined_job_instead_are_counted(tmp_path: Path) -> None:
    kept = "".join(line("id", i, True) for i in range(12))
    other = "".join(line("id", i, False, reworded="put the red cube in the bin", obeyed=i < 9) for i in range(12))
    folder(tmp_path / "raw", "a", 'use = ["headline", "ablation"]\n', rotation0__kept=kept, rotation0__reworded=other)
    analyse_results(tmp_path / "raw", tmp_path / "out", lambda text: None)
    told = json.loads((tmp_path / "out" / "results.json").read_text())["ablation"]["reworded"]
    assert told["id_did_the_other_job"]["value"] == 0.75 and told["id_did_the_other_job"]["count"] == 12
    assert told["id_minus_reference"]["value"] == -1.0
    assert "did the other in 9/12 = 75.0 %" in (tmp_path / "out" / "index.html").read_text()


def test_two_policies_are_never_pooled_into_one_headline(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    other = folder(tmp_path, "b", 'use = ["headline"]\n', rotation0__kept=line("id", 1, False))
    (other / "about.toml").write_text('policy = "other"\nhead_seed = 2\nuse = ["headline"]\n')
    with pytest.raises(ConfigurationError, match="toy, other"):
        findings(read_results(tmp_path))
    for name, policy in (("a", "toy"), ("b", "other")):
        about = f'policy = "{policy}"\nfamily = "both"\nhead_seed = {len(policy)}\nuse = ["headline"]\n'
        (tmp_path / name / "about.toml").write_text(about)
    assert findings(read_results(tmp_path))["id_success"]["training_seeds"] == 2


def test_results_that_chose_a_setting_are_not_counted_for_it(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    folder(tmp_path, "b", 'use = ["choice"]\n', rotation0__kept__adaptive=line("ood", 1, True))
    found = findings(read_results(tmp_path))
    assert found["ood_success"]["adaptive"]["value"] is None
    folder(tmp_path, "c", 'use = ["guidance"]\n', rotation0__kept__adaptive=line("ood", 1, True))
    assert findings(read_results(tmp_path))["ood_success"]["adaptive"]["value"] == 1.0


def test_a_sweep_gives_the_correlation_of_tr_and_gap(tmp_path: Path) -> None:
    """Five designs whose gap falls as TR rises: rank correlation -1."""
    for point in range(5):
        id_lines = "".join(line("id", i, True, ratio=0.1 * (point + 1)) for i in range(10))
        ood_lines = "".join(line("ood", i, i < 2 * point) for i in range(10))
        about = f'use = ["sweep"]\nsigma = {point / 10 + 0.1}\n'
        folder(tmp_path, f"d{point}", about, rotation0__kept=id_lines + ood_lines)
    told = findings(read_results(tmp_path))["tr_ood_spearman"]
    assert told["value"] == pytest.approx(-1.0) and told["count"] == 5
    assert told["interval"][1] < 0.2


def test_a_policy_that_lacked_something_is_compared_on_the_layouts_it_shares_with_its_reference(tmp_path: Path) -> None:
    """Training seeds differ, so nothing but layout and noise is paired."""
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    lacking = folder(tmp_path, "b", "", rotation0__kept="".join(line("id", i, False) for i in range(4)))
    whole = folder(tmp_path, "c", "", rotation0__kept="".join(line("id", i, i > 1) for i in range(2, 9)))
    about = 'policy = "{}"\nhead_seed = {}\nuse = ["ablation"]\n'
    variant = 'variant = "backbone_without_video_loss"\nreference = "whole"\nwhat = "no video"\n'
    (lacking / "about.toml").write_text(about.format("lacking", 7) + variant)
    (whole / "about.toml").write_text(about.format("whole", 8))
    told = findings(read_results(tmp_path))["ablation"]["backbone_without_video_loss"]
    assert told["id_minus_reference"]["value"] == -1.0 and told["id_minus_reference"]["count"] == 2
    assert told["reference"]["policy"] == "whole" and told["reference"]["id"]["count"] == 2
    analyse_results(tmp_path, tmp_path / "out", lambda text: None)
    assert "no video." in (tmp_path / "out" / "index.html").read_text()


def test_futures_of_a_policy_that_lacked_something_are_not_added_up(tmp_path: Path) -> None:
    """Kept and masked outcomes of one folder would have been one rate."""
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    lacking = 'use = ["ablation"]\nvariant = "backbone_without_video_loss"\n'
    both = {"rotation0__kept": line("id", 1, True), "rotation0__masked": line("id", 1, False)}
    mixed = folder(tmp_path, "b", lacking, **both)
    with pytest.raises(ConfigurationError, match="kept, masked"):
        findings(read_results(tmp_path))
    apart = '[[files]]\nfile = "rotation0-masked.jsonl"\nuse = ["earlier"]\n'
    (mixed / "about.toml").write_text(ABOUT + lacking + apart)
    assert findings(read_results(tmp_path))["ablation"]["backbone_without_video_loss"]["id"]["value"] == 1.0


def test_two_policies_that_lacked_something_are_each_compared_with_their_own_reference(tmp_path: Path) -> None:
    """Both pairs share layouts 0 to 3: one loses everything, one nothing, so the difference is a half."""
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    for name, seed, wins, theirs in (("b", 7, False, True), ("c", 8, False, False)):
        made = folder(tmp_path, name, "", rotation0__kept="".join(line("id", i, wins) for i in range(4)))
        other = folder(tmp_path, f"{name}0", "", rotation0__kept="".join(line("id", i, theirs) for i in range(4)))
        variant = f'variant = "backbone_without_video_loss"\nreference = "{name}0"\n'
        (made / "about.toml").write_text(f'policy = "{name}"\nhead_seed = {seed}\nuse = ["ablation"]\n{variant}')
        (other / "about.toml").write_text(f'policy = "{name}0"\nhead_seed = 1\nuse = ["earlier"]\n')
    told = findings(read_results(tmp_path))["ablation"]["backbone_without_video_loss"]
    assert told["id_minus_reference"]["value"] == -0.5 and told["id_minus_reference"]["count"] == 8
    assert told["reference"]["policy"] == "b0, c0" and told["reference"]["id"]["count"] == 8


def test_a_policy_of_another_rotation_is_told_beside_the_headline_and_not_in_it(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    made = folder(tmp_path, "b", "", rotation1__kept=line("id", 1, False) + line("ood", 1, True))
    (made / "about.toml").write_text('policy = "other"\nhead_seed = 2\nuse = ["rotation"]\n')
    found = findings(read_results(tmp_path))
    assert found["id_success"]["value"] == 1.0 and found["rotations"]["1"]["id"]["value"] == 0.0
    assert found["rotations"]["1"]["policies"] == ["other"]
    analyse_results(tmp_path, tmp_path / "out", lambda text: None)
    assert "rotation 1 (other), held-out" in (tmp_path / "out" / "index.html").read_text()


def test_each_training_seed_is_told_apart_beside_the_rate_of_all(tmp_path: Path) -> None:
    for seed, won in ((1, True), (2, False)):
        made = folder(tmp_path, f"s{seed}", "", rotation0__kept="".join(line("id", i, won) for i in range(3)))
        about = f'policy = "p{seed}"\nfamily = "p"\nhead_seed = {seed}\nuse = ["headline"]\n'
        (made / "about.toml").write_text(about)
    told = findings(read_results(tmp_path))["id_success"]
    assert told["value"] == 0.5 and told["by_training_seed"] == {"1": "3/3", "2": "0/3"}


def test_imaginations_are_counted_with_what_a_draw_would_give(tmp_path: Path) -> None:
    made = folder(tmp_path / "raw", "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    row = {"object": "red cube", "receptacle": "bin", "seed": 1, "imagined_right": True, "executed_right": False}
    more = {"chunks": 10, "film": "x.mp4", "object_imagined": "red cube", "objects": 4, "receptacles": 1}
    lines = [
        {**row, **more},
        {**row, "chunks": 1, "imagined_right": None, "object_imagined": "blue ball", "objects": 2},
    ]
    (made / "imagined.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    analyse_results(tmp_path / "raw", tmp_path / "out", lambda text: None)
    text = (tmp_path / "out" / "index.html").read_text()
    assert "imagined in 1/1 = 100.0 %" in text and "x.mp4" in text
    assert "1/2 = 50.0 %" in text and "38 %" in text and "not told apart" in text


def test_strengths_of_guidance_are_told_apart(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("ood", 1, True))
    files = {f"rotation0__kept__constant__0.{i}": line("ood", 1, i == 1) for i in (1, 3)}
    folder(tmp_path, "b", 'use = ["guidance"]\n', **files)
    told = findings(read_results(tmp_path))["guidance"]
    assert told["constant 0.1"]["ood"]["value"] == 1.0 and told["constant 0.3"]["ood"]["value"] == 0.0
    assert told["constant 0.3"]["ood_minus_reference"]["value"] == -1.0


def test_a_folder_that_nobody_described_is_named_and_not_counted(tmp_path: Path) -> None:
    folder(tmp_path, "a", 'use = ["headline"]\n', rotation0__kept=line("id", 1, True))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "rotation0-kept.jsonl").write_text(line("id", 2, False))
    results = read_results(tmp_path)
    assert results.undescribed == ("b",)
    assert findings(results)["id_success"]["count"] == 1


@pytest.mark.parametrize(
    ("about", "content", "message"),
    [
        ('use = ["headline"]\nfuture_ = "kept"\n', line("id", 1, True), r"about.toml, rotation0-kept.jsonl: future_"),
        ('use = ["proof"]\n', line("id", 1, True), r"use"),
        ('use = ["headline"]\n', line("id", 1, True) + "{}\n", r"rotation0-kept.jsonl, line 2"),
        ('use = ["headline"]\n', line("id", 1, True, ratios=[0.1]), r"line 1.*lengths"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, about: str, content: str, message: str) -> None:
    folder(tmp_path, "a", about, rotation0__kept=content)
    with pytest.raises(ConfigurationError, match=message):
        read_results(tmp_path)
