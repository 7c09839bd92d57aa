"""What crosses a process or a network: types, layout, codec, handshake, manifest, station model, errors.

Imports none of the other packages, and no heavy library.
"""
