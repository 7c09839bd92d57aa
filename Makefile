# Every target installs what it needs into .venv first; the second time that costs nothing.
SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
# The policy that ships.
BUNDLE ?= bundles/trained-foresight
# Tests that keep real time run one at a time, the others in two processes.
SHARED := -n 2 --dist loadfile -m "not realtime"
ALONE := -m realtime
export VENV

.DEFAULT_GOAL := help
.PHONY: bench-safety safety-sequences mutate bench-engines bench-rtx help demo test test-robot check bench bench-wire bench-loop bench-twin bench-replan bench-latency bench-episodes faults soak refs results circle fuzz soak-server bench-ros ros-shutdown calibration-bench clean \
  install-demo install-test install-dev install-robot

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

install-demo install-test install-dev install-robot:
	@scripts/install.sh $(@:install-%=%)

demo: install-demo ## the main job: the twin's cameras through the policy to the twin's arms (ARGS="--seconds 30 --headless")
	@$(BIN)/yam-robot demo $(ARGS)

test: install-test ## the tests
	@$(BIN)/python -m pytest $(SHARED) $(ARGS)
	@$(BIN)/python -m pytest $(ALONE) $(ARGS)

test-robot: ## the robot side installed alone, and its tests
	@VENV=.venv-robot scripts/install.sh robot-test
	@.venv-robot/bin/python -m pytest tests/contract tests/robot_client $(SHARED) $(ARGS)
	@.venv-robot/bin/python -m pytest tests/robot_client $(ALONE) $(ARGS)

check: install-dev ## ruff, types, import arrows
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m pytest -q tests/test_arrows.py

bench: bench-wire bench-loop bench-twin bench-replan bench-engines bench-rtx bench-latency bench-episodes ## every benchmark; results in out/bench

bench-wire: install-test ## stack time per replan against its floor
	@$(BIN)/yam-policy bench wire --json out/bench/wire.json $(ARGS)

bench-loop: install-demo ## lateness of the control loop against a bare loop
	@$(BIN)/yam-robot bench loop --json out/bench/loop.json $(ARGS)

bench-engines: install-test ## every graph on every engine there is (ARGS="--sizes tiny mid")
	@$(BIN)/yam-policy bench engines --json out/bench/engines.json $(ARGS)

bench-rtx: install-test ## TensorRT-RTX builds a Cosmos of 100 million parameters, no card needed
	@$(BIN)/python -m policy_server.bench.rtx_build $(ARGS)

bench-twin: install-demo ## the twin: rendering and real-time headroom
	@$(BIN)/python -m robot_client.twin.bench --json out/bench/twin.json $(ARGS)

bench-latency: install-demo ## light to motor stage by stage, and the payload beside openpi's public client
	@$(BIN)/yam-robot bench latency --json out/bench/latency.json --openpi $(ARGS)

bench-episodes: install-demo ## what recording costs and how fast episodes are read
	@$(BIN)/yam-robot bench episodes --json out/bench/episodes.json $(ARGS)

bench-safety: install-test ## processor time of one step of safety
	@$(BIN)/python -m robot_client.bench.safety --json out/bench/safety.json $(ARGS)

safety-sequences: install-test ## a million random sequences through each channel's limits, 100,000 through the guard; the largest excess of each
	@$(BIN)/python -m tests.robot_client.safety.channel_sequences --json out/bench/safety_channels.json
	@$(BIN)/python -m tests.robot_client.safety.sequences --json out/bench/safety_sequences.json $(ARGS)

mutate: install-test ## changes safety, modes and the chunk buffer a little at a time; every unnoticed change must be listed
	@$(BIN)/python -m tests.mutation --json out/bench/mutate.json $(ARGS)

bench-replan: install-demo ## time of a replan by branches
	@$(BIN)/python -m policy_server.bench.replan $(BUNDLE) --json out/bench/replan.json $(ARGS)

fuzz: install-test ## 100,000 broken messages to each end of the wire; then by coverage where atheris installs
	@$(BIN)/python -m tests.fuzz $(ARGS)
	@$(BIN)/pip install -q --only-binary=:all: "atheris>=2.3" 2>/dev/null \
	  && $(BIN)/python -m tests.fuzz.coverage_guided -runs=300000 -max_len=8192 \
	  || echo "fuzz: atheris does not install here: no coverage-guided run"

faults: install-demo ## every fault of server, client and link, 50 times on the ideal rig (ARGS="--rounds 5 link")
	@$(BIN)/yam-robot faults $(ARGS)

MINUTES ?= 60
soak: install-demo ## the robot side drives for MINUTES; its memory must stay flat
	@$(BIN)/yam-robot soak --minutes $(MINUTES) $(ARGS)

MINUTES ?= 60
soak-server: install-test ## four robots and a flood on one server for MINUTES; memory and fairness in out/bench/server_soak.json
	@$(BIN)/python -m policy_server.bench.soak --minutes $(MINUTES) $(ARGS)

ROS := PYTHONPATH=ros2_ws/src/yam_vam:. $(BIN)/python
bench-ros: install-test ## what ROS adds: camera topic to observation, command to topic, lateness beside three streams
	@$(ROS) -m yam_vam.bench --json out/bench/ros.json $(ARGS)

ros-shutdown: install-test ## nodes ended by SIGINT and SIGTERM in every state, 20 times each (ROUNDS=1 for a look)
	@$(ROS) tests/ros/shutdown_states.py $(or $(ROUNDS),20) $(or $(RECORD),out/bench/ros_shutdown.jsonl)

calibration-bench: install-test ## every calibration routine on the twin against its true values, three seeds, about eight minutes
	@$(BIN)/python -m calibration.bench --json out/bench/calibration.json $(ARGS)

REFS := tests/robot_client/episodes/reference
refs: install-test ## accept the shipped policy's answers to the kept episode (look at the diff)
	@$(BIN)/yam-robot episode policy $(REFS)/episode --bundle $(BUNDLE) --references $(REFS)/answers.json --accept

results: install-test ## statistics and docs/results/index.html from the stored raw results
	@$(BIN)/yam-train analyse $(ARGS)

circle: install-test ## the full circle: record 20 episodes, LeRobot, train a minute, publish, serve, run on the twin
	@$(BIN)/python -m training.circle $(ARGS)

clean: ## removes results of runs and benchmarks, and caches; keeps .venv, data and training (out/data, out/train)
	rm -rf out/demo out/run out/bench .pytest_cache .hypothesis .mypy_cache .ruff_cache
