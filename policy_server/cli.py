"""`yam-policy`: serve, export, build, verify and the rest. Each imports what it needs when it runs."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import tyro

from contract.errors import ConfigurationError, StackError
from contract.reader_gone import quiet_when_nobody_reads
from policy_server import making, measuring
from policy_server.engines.loading import EngineName
from policy_server.server.bind import DEFAULT_BIND

app = tyro.extras.SubcommandApp()
for command in (making.export, making.build, making.verify, making.embed, making.adopt, measuring.bench):
    app.command(command)


@app.command
def serve(
    bundle: Path,
    bind: str = DEFAULT_BIND,
    engine: EngineName = "onnxruntime",
    engines: Path | None = None,
    threads: int = 0,
    insecure: bool = False,
    keys: Path | None = None,
    hang_s: float = 30.0,
    metrics: str | None = None,
    stop_with_stdin: bool = False,
) -> None:
    """Serve a policy bundle to robots. Prints `READY tcp://HOST:PORT` when it answers.

    Args:
        bundle: folder with policy.toml.
        bind: where to listen; port 0 picks a free one. Anything but loopback needs --keys or --insecure.
        engine: what computes; there is no silent change to another one.
        engines: folder of compiled engines; default: the one that `yam-policy build` wrote beside the bundle.
        threads: threads of the engine; 0 = the library's choice.
        insecure: listen on any address without keys.
        keys: folder made by `yam-policy keys`; only the clients in it are let in.
        hang_s: an engine call longer than this ends the server with an error.
        metrics: HOST:PORT for /metrics (Prometheus) and /status (JSON); loopback unless --insecure.
        stop_with_stdin: stop when standard input ends, for a supervisor that may die.
    """
    from policy_server.commands.serve import EngineChoice
    from policy_server.commands.serve import serve as run
    from policy_server.server.settings import ServeSettings

    settings = ServeSettings(bind, insecure, keys, hang_s, metrics)
    run(bundle, EngineChoice(engine, threads, engines), settings, stop_with_stdin)


@app.command
def info(
    bundle: Path | None = None,
    server: str | None = None,
    json: bool = False,
    timeout_s: float = 5.0,
    keys: Path | None = None,
) -> None:
    """Say what a bundle or a running server is.

    Args:
        bundle: folder with policy.toml.
        server: address of a running server, for example tcp://127.0.0.1:5555.
        json: everything, as JSON.
        timeout_s: longest wait for the server.
        keys: a client's folder of CURVE keys, for a server that lets in nobody without.
    """
    from policy_server.commands.info import info as describe

    print("\n".join(describe(bundle, server, json, timeout_s, keys)))


@app.command
def imagine(
    bundle: Path | None = None,
    server: str | None = None,
    instruction: str = "",
    chunks: int = 1,
    image: dict[str, Path] | None = None,
    seed: int = 0,
    out: Path = Path("out/imagine.mp4"),
    timeout_s: float = 120.0,
    keys: Path | None = None,
) -> None:
    """Write the frames that the policy predicts.

    Args:
        bundle: folder with policy.toml, or
        server: address of a running server.
        instruction: what the robot is told; empty = nothing.
        chunks: length, 1 to 10 chunks.
        image: ROLE PATH pairs; cameras without one see a made-up picture.
        seed: of the noise and of made-up pictures.
        out: .mp4, or .png for a strip.
        timeout_s: longest wait for the server.
        keys: a client's folder of CURVE keys, for a server that lets in nobody without.
    """
    from policy_server.commands.imagine import Wish
    from policy_server.commands.imagine import imagine as run

    print(run(bundle, server, Wish(instruction, chunks, image or {}, seed), out, timeout_s, keys))


@app.command
def keys(folder: Annotated[Path, tyro.conf.Positional], client: str = "robot") -> None:
    """Make CURVE keys for a server and for one client.

    Args:
        folder: where the server's keys and its list of clients are kept.
        client: name of the new client.
    """
    from policy_server.commands.keys import keys as make

    print("\n".join(make(folder, client)))


@app.command
def calibrate(
    bundle: Annotated[Path, tyro.conf.Positional],
    replans: Annotated[tuple[Path, ...], tyro.conf.Positional],
    source: str = "unguided replans of the twin",
    q_lo: float | None = None,
    q_hi: float | None = None,
) -> None:
    """Store the distribution of TR over unguided replans in a bundle.

    Args:
        bundle: folder with policy.toml.
        replans: replans.jsonl files of runs with --guidance off.
        source: where the replans come from, for people.
        q_lo: rank of TR below which adaptive guidance is off; default: as it is.
        q_hi: rank of TR from which on it is whole; default: as it is.
    """
    from policy_server.commands.calibrate import calibrate as run

    print("\n".join(run(bundle, replans, source, q_lo, q_hi)))


def main() -> None:
    """Entry point. Exit code 0 for a stop by a person, 1 for an error in one line, 2 for a bad setting."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        with quiet_when_nobody_reads():
            app.cli(prog="yam-policy")
    except StackError as error:
        print(f"yam-policy: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigurationError) else 1)
    except KeyboardInterrupt:
        sys.exit(0)


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)
