# Three targets, each installed the way the README installs: `docker build --target server|robot|test .`
FROM python:3.12-slim-bookworm AS base
RUN apt-get update && apt-get install -y --no-install-recommends make git \
    libegl1 libegl-mesa0 libgl1-mesa-dri libgl1 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/yam
COPY pyproject.toml Makefile LICENSE README.md ./
COPY scripts scripts
COPY constraints constraints
COPY contract contract

# The policy server on ONNX Runtime: no torch inside.
FROM base AS server
COPY policy_server policy_server
COPY bundles bundles
RUN scripts/install.sh server
EXPOSE 5555
# Beyond loopback the server wants keys; see `yam-policy serve --help`.
ENTRYPOINT [".venv/bin/yam-policy"]
CMD ["serve", "--bundle", "bundles/trained-foresight"]

# The robot side: loop, planner, twin. No torch, no inference engine.
FROM base AS robot
COPY robot_client robot_client
COPY calibration calibration
RUN VENV=.venv scripts/install.sh robot-test
ENTRYPOINT [".venv/bin/yam-robot"]

# Everything, and the tests.
FROM base AS test
COPY . .
RUN scripts/install.sh test
CMD ["make", "test"]
