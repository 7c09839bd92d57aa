"""`yam-policy embed` and `yam-policy adopt`: a pretrained Cosmos pipeline to a policy whose head is untrained."""

from __future__ import annotations

from pathlib import Path

from contract.errors import ConfigurationError


def embed_instructions(folder: Path, instructions: Path, out: Path, length: int) -> None:
    """Embed the sentences of a text file, one a line. Raises `BundleError` or `ConfigurationError` in one line."""
    from policy_server.model.cosmos.embeddings import embed, save_embeddings
    from policy_server.model.cosmos.folder import CosmosFolder

    try:
        lines = instructions.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigurationError(
            "--instructions", expected="a text file", got=f"{instructions}: {error.strerror}", remedy="check the path"
        ) from error
    made = embed(CosmosFolder(folder), [line for line in lines if line.strip()], length, print)
    out.parent.mkdir(parents=True, exist_ok=True)
    save_embeddings(out, made)
    size = (made.table.nbytes + made.null.nbytes) / 1e6
    print(f"{out}: {len(made.sentences)} sentences and the null, {size:.1f} MB")


def adopt_folder(folder: Path, out: Path, embeddings: Path, adapter: Path | None, tap_block: int, sigma: float) -> None:
    """Write a checkpoint folder on the authors' canvas. Raises `BundleError` for what does not fit."""
    from policy_server.model.cosmos.adopt import Wish, adopt, count_parameters
    from policy_server.model.cosmos.embeddings import load_embeddings
    from policy_server.model.cosmos.folder import CosmosFolder
    from policy_server.model.presets import cosmos_2b

    usual = cosmos_2b()
    wish = Wish(usual.canvas, usual.head, tap_block, sigma, passes=0 if sigma == 1.0 else 1)
    config = adopt(CosmosFolder(folder), wish, load_embeddings(embeddings), adapter, out)
    count_parameters(config, print)
    print(f"{out}: backbone pretrained, head untrained; train the head with yam-train, then export")
