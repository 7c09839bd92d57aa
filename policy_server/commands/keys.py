"""`yam-policy keys`: CURVE keys for a server and one of its clients."""

from __future__ import annotations

from pathlib import Path

from policy_server.server.keys import make_keys


def keys(folder: Path, client: str) -> list[str]:
    """Make what is missing; lines to print. Raises `ConfigurationError` when the client has keys already."""
    made = make_keys(folder, client)
    return [
        *(f"wrote {path}" for path in made),
        f"server: yam-policy serve --keys {folder}",
        f"robot:  copy {folder / f'client_{client}'} there and name it with --keys",
    ]
