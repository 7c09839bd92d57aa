"""A client written from docs/protocol.md alone: msgpack, sockets, struct, and of ours only the release's hash."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import zmq

from contract.handshake import contract_hash
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from tests.waiting import PATIENCE_S


class ForeignClient:
    """What another language would need some fifty lines for."""

    def __init__(self, endpoint: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.connect(endpoint)
        self._last_id = 0

    def ask(
        self, kind: str, body: dict[str, Any], arrays: dict[str, tuple[str, list[int], bytes]] | None = None
    ) -> Any:
        """(kind, body, {array name: (dtype, shape, bytes)}) of the reply."""
        self._last_id += 1
        table = [[name, dtype, shape] for name, (dtype, shape, _) in (arrays or {}).items()]
        header = {"protocol": 1, "kind": kind, "id": self._last_id, "body": body, "arrays": table}
        self._socket.send_multipart([msgpack.packb(header), *(data for _, _, data in (arrays or {}).values())])
        assert self._socket.poll(PATIENCE_S * 1e3)
        head, *frames = self._socket.recv_multipart()
        reply = msgpack.unpackb(head)
        assert set(reply) == {"protocol", "kind", "id", "body", "arrays"} and reply["id"] == self._last_id
        return (
            reply["kind"],
            reply["body"],
            {name: (dtype, shape, frame) for (name, dtype, shape), frame in zip(reply["arrays"], frames, strict=True)},
        )

    def close(self) -> None:
        self._context.destroy(0)


def test_a_client_built_from_the_document_gets_its_chunk() -> None:
    with background_server(lambda: ScriptedPolicy(Script(info=scripted_info(2, 3)))) as server:
        client = ForeignClient(server.endpoint)
        try:
            converse(client)
        finally:
            client.close()


def converse(client: ForeignClient) -> None:
    """Hello, ping, observation, and a mistake."""
    hello = {"session": "arm", "instance": "00ff00ff00ff00ff", "contract_hash": contract_hash(), "client": "foreign"}
    kind, body, _ = client.ask("hello", hello)
    assert kind == "welcome"
    info = body["info"]
    assert (info["protocol"], info["horizon"], len(info["layout"])) == (1, 16, 14)
    assert client.ask("ping", {"session": "arm", "sequence": 1})[:2] == ("pong", {"sequence": 1, "state": "READY"})

    roles = [camera["role"] for camera in info["cameras"]]
    question = {
        "session": "arm", "epoch": 0, "sequence": 1, "stamp_ns": 10, "joints_stamp_ns": 9,
        "image_stamps_ns": dict.fromkeys(roles, 8), "instruction": "", "seed": 5, "first_row": 2, "budget_ns": 0,
        "guidance": "off", "branches": ["full"],
    }  # fmt: skip
    arrays = {
        "joints": ("<f4", [14], struct.pack("<14f", *range(14))),
        "prefix": ("<f4", [2, 14], struct.pack("<28f", *range(28))),
        **{f"image.{role}": ("|u1", [2, 3, 3], bytes(range(18))) for role in roles},
    }
    kind, body, answer = client.ask("observation", question, arrays)
    assert kind == "chunk" and (body["session"], body["sequence"], body["first_row"]) == ("arm", 1, 2)
    dtype, shape, data = answer["rows"]
    assert (dtype, shape) == ("<f4", [14, 14])
    assert struct.unpack("<196f", data)[::14] == tuple(range(2, 16))

    kind, body, _ = client.ask("observation", {**question, "branches": ["nolang"]}, arrays)
    assert (kind, body["code"], body["what"]) == ("error", "field", "branches")
