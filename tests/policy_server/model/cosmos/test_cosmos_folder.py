"""A pipeline folder becomes a policy: weights, autoencoder, embeddings after the projection, adapters; or one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file

from contract.architecture import Canvas, View
from contract.errors import BundleError, ConfigurationError
from policy_server.export.bundle import export_bundle
from policy_server.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from policy_server.model.config import HeadConfig
from policy_server.model.cosmos.adapters import DIFFUSERS, merge_adapter
from policy_server.model.cosmos.adopt import Wish, adopt, count_parameters
from policy_server.model.cosmos.embeddings import Embeddings, embed, load_embeddings, save_embeddings
from policy_server.model.cosmos.folder import CosmosFolder
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import cosmos_2b
from policy_server.model.pretrained import load_transformer
from tests.policy_server.model.cosmos.tiny_pipeline import LENGTH, TEXT_WIDTH, autoencoder, save_pipeline

SENTENCES = ("put the cube in the bin", "put the ball in the bin")
CANVAS = Canvas(height=32, width=32, views=(View(role="top", top=0, left=0, height=32, width=32),))
WISH = Wish(
    canvas=CANVAS,
    head=HeadConfig(kind="flow_transformer", horizon=6, max_prefix=3, width=32, heads=2, head_dim=8, time_width=16),
    tap_block=0,
    sigma=0.5,
    passes=1,
    frames=2,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CosmosFolder:
    path = tmp_path_factory.mktemp("pipeline")
    save_pipeline(path)
    return CosmosFolder(path)


@pytest.fixture(scope="module")
def embeddings(folder: CosmosFolder) -> Embeddings:
    return embed(folder, SENTENCES, LENGTH, lambda line: None)


@pytest.fixture(scope="module")
def adopted(folder: CosmosFolder, embeddings: Embeddings, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    out = tmp_path_factory.mktemp("checkpoint")
    adopt(folder, WISH, embeddings, None, out)
    return load_checkpoint(out)


def test_every_tensor_of_the_folder_is_in_the_policy(folder: CosmosFolder, adopted: Checkpoint) -> None:
    fresh = build(adopted.config, 7).backbone
    load_transformer(fresh, folder.transformer)
    for name, value in fresh.dit.state_dict().items():
        assert torch.equal(value, adopted.model.backbone.dit.state_dict()[name]), name


@torch.no_grad()
def test_the_autoencoder_encodes_as_diffusers_does(folder: CosmosFolder, adopted: Checkpoint) -> None:
    theirs = type(autoencoder()).from_pretrained(str(folder.vae)).eval()
    canvas = torch.randint(0, 256, (1, 32, 32, 3), dtype=torch.uint8)
    picture = (canvas.float() / 127.5 - 1).permute(0, 3, 1, 2).unsqueeze(2)
    mean = torch.tensor(theirs.config.latents_mean).view(1, -1, 1, 1, 1)
    deviation = torch.tensor(theirs.config.latents_std).view(1, -1, 1, 1, 1)
    wanted = (theirs.encode(picture).latent_dist.mode() - mean) / deviation
    torch.testing.assert_close(adopted.model.latent.encode(canvas), wanted)


def test_embeddings_are_kept_after_the_projection_null_included(embeddings: Embeddings, adopted: Checkpoint) -> None:
    assert embeddings.table.shape == (2, LENGTH, TEXT_WIDTH) and embeddings.null.shape == (LENGTH, TEXT_WIDTH)
    assert adopted.config.text.vocabulary == SENTENCES
    text = adopted.model.instruction(torch.tensor([[0], [1], [2]]))
    assert torch.equal(text[0], embeddings.null) and torch.equal(text[1:], embeddings.table)
    assert not torch.allclose(embeddings.table[0], embeddings.table[1]), "two sentences, one embedding"
    assert not torch.allclose(embeddings.null, embeddings.table[0])


def test_embeddings_survive_their_file(embeddings: Embeddings, tmp_path: Path) -> None:
    save_embeddings(tmp_path / "e.safetensors", embeddings)
    back = load_embeddings(tmp_path / "e.safetensors")
    assert back.sentences == SENTENCES and torch.equal(back.table, embeddings.table)


def test_without_a_projection_the_encoder_s_states_are_kept_as_they_are(folder: CosmosFolder, tmp_path: Path) -> None:
    """`use_crossattn_projection` decides; a folder without it must not look for the projection's weights."""
    shutil.copytree(folder.path, tmp_path / "p")
    config = tmp_path / "p" / "transformer" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "use_crossattn_projection": False}))
    bare = embed(CosmosFolder(tmp_path / "p"), SENTENCES[:1], LENGTH, lambda line: None)
    assert bare.table.shape == (1, LENGTH, 32)


def test_a_peft_adapter_is_merged_and_named(folder: CosmosFolder, adopted: Checkpoint, tmp_path: Path) -> None:
    dit = build(adopted.config, 0).backbone
    load_transformer(dit, folder.transformer)
    torch.manual_seed(0)
    wrapped = get_peft_model(dit.dit, LoraConfig(r=2, lora_alpha=4, target_modules=["to_q"], init_lora_weights=False))
    wrapped.save_pretrained(str(tmp_path / "pick"))
    backbone = build(adopted.config, 0).backbone
    load_transformer(backbone, folder.transformer)
    before = {name: value.clone() for name, value in backbone.dit.state_dict().items()}
    assert merge_adapter(backbone, tmp_path / "pick").startswith("pick@")
    after = backbone.dit.state_dict()
    assert set(after) == set(before), "adapter weights were left beside the merged ones"
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and all("to_q" in name for name in changed)
    low = wrapped.state_dict()
    name = "transformer_blocks.0.attn1.to_q"
    a, b = (low[f"base_model.model.{name}.lora_{part}.default.weight"] for part in "AB")
    torch.testing.assert_close(after[f"{name}.weight"], before[f"{name}.weight"] + 2.0 * b @ a)


def test_a_diffusers_adapter_is_merged_alike(folder: CosmosFolder, adopted: Checkpoint, tmp_path: Path) -> None:
    backbone = build(adopted.config, 0).backbone
    load_transformer(backbone, folder.transformer)
    name = "transformer_blocks.1.attn2.to_k"
    before = backbone.dit.state_dict()[f"{name}.weight"].clone()
    a, b = torch.randn(2, before.shape[1]), torch.randn(before.shape[0], 2)
    weights = {f"transformer.{name}.lora_A.weight": a, f"transformer.{name}.lora_B.weight": b}
    (tmp_path / "style").mkdir()
    save_file(weights, str(tmp_path / "style" / DIFFUSERS))
    merge_adapter(backbone, tmp_path / "style")
    torch.testing.assert_close(backbone.dit.state_dict()[f"{name}.weight"], before + b @ a)


def test_an_adapter_of_another_model_is_refused_by_name(adopted: Checkpoint, tmp_path: Path) -> None:
    """diffusers drops keys that have no place, without an error."""
    weights = {
        "transformer.transformer_blocks.99.attn1.to_q.lora_A.weight": torch.randn(2, 48),
        "transformer.transformer_blocks.99.attn1.to_q.lora_B.weight": torch.randn(48, 2),
    }
    save_file(weights, str(tmp_path / DIFFUSERS))
    with pytest.raises(BundleError, match=r"blocks\.99"):
        merge_adapter(build(adopted.config, 0).backbone, tmp_path)


def test_a_folder_without_an_adapter_is_refused(adopted: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=DIFFUSERS):
        merge_adapter(build(adopted.config, 0).backbone, tmp_path)


def test_embeddings_of_another_width_are_refused(folder: CosmosFolder, tmp_path: Path) -> None:
    other = Embeddings(("x",), torch.zeros(LENGTH, 8), torch.zeros(1, LENGTH, 8))
    with pytest.raises(BundleError, match="embed with this very folder"):
        adopt(folder, WISH, other, None, tmp_path)


@pytest.mark.parametrize("missing", ["transformer/config.json", "vae/config.json"])
def test_a_folder_that_is_not_whole_names_the_file(
    folder: CosmosFolder, embeddings: Embeddings, tmp_path: Path, missing: str
) -> None:
    shutil.copytree(folder.path, tmp_path / "p")
    (tmp_path / "p" / missing).unlink()
    with pytest.raises(BundleError, match=missing):
        adopt(CosmosFolder(tmp_path / "p"), WISH, embeddings, None, tmp_path / "out")


def test_another_transformer_class_is_refused(folder: CosmosFolder, embeddings: Embeddings, tmp_path: Path) -> None:
    shutil.copytree(folder.path, tmp_path / "p")
    config = tmp_path / "p" / "transformer" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "_class_name": "WanTransformer3DModel"}))
    with pytest.raises(BundleError, match="WanTransformer3DModel"):
        adopt(CosmosFolder(tmp_path / "p"), WISH, embeddings, None, tmp_path / "out")


@pytest.mark.parametrize("sentences", [(), ("",), ("a", "a "), ("a", " ")])
def test_instructions_are_one_a_line_and_each_once(folder: CosmosFolder, sentences: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError, match="instructions"):
        embed(folder, sentences, LENGTH, lambda line: None)


def test_the_full_size_is_counted_without_memory() -> None:
    counts = count_parameters(cosmos_2b())
    assert 1.9e9 < counts["backbone"] < 2.1e9
    assert 0.1e9 < counts["autoencoder"] < 0.2e9


def test_an_adapter_given_at_export_is_merged_and_named_in_the_bundle(
    adopted: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, name = tmp_path / "checkpoint", "transformer_blocks.1.attn2.to_k"
    save_checkpoint(adopted.model, adopted.card, checkpoint)
    before = adopted.model.backbone.dit.state_dict()[f"{name}.weight"]
    a, b = torch.randn(2, before.shape[1]), torch.randn(before.shape[0], 2)
    (tmp_path / "night").mkdir()
    save_file(
        {f"transformer.{name}.lora_A.weight": a, f"transformer.{name}.lora_B.weight": b},
        str(tmp_path / "night" / DIFFUSERS),
    )
    exported = []

    def instead(model: VideoActionModel, folder: Path, *rest: object) -> None:
        """Writing the graphs takes a minute and has its own tests."""
        exported.append(model.backbone.dit.state_dict()[f"{name}.weight"].clone())
        (folder / "text.onnx").write_bytes(b"graph")

    monkeypatch.setattr("policy_server.export.bundle.write_graphs", instead)
    manifest = export_bundle(checkpoint, tmp_path / "bundle", lora=tmp_path / "night")
    assert manifest.provenance.adapters[0].startswith("night@") and len(manifest.provenance.adapters) == 1
    torch.testing.assert_close(exported[0], before + b @ a)
    with pytest.raises(ConfigurationError, match="lack the adapter"):
        export_bundle(checkpoint, tmp_path / "both", lora=tmp_path / "night", carry_checkpoint=True)
