"""A size with another noise level, other passes or another reach of what is imagined: points of a design sweep."""

from __future__ import annotations

from pydantic import ValidationError

from contract.errors import ConfigurationError
from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel, build
from training.run import Design


def designed(config: ModelConfig, design: Design) -> ModelConfig:
    """The configuration with what the design says. Raises `ConfigurationError` when it cannot be."""
    asked = {name: value for name, value in design.model_dump().items() if value is not None}
    content = config.model_dump()
    content["backbone"].update({name: asked[name] for name in ("sigma", "passes") if name in asked})
    if "ahead" in asked:
        content["latent"]["temporal"] = asked["ahead"]
    try:
        return ModelConfig.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(
            "design", expected=fault["msg"], got=asked, remedy="correct `design` in the run's file"
        ) from error


def redesigned(model: VideoActionModel, design: Design) -> VideoActionModel:
    """The same weights under another design: no weight depends on it, only what the passes and pictures are."""
    config = designed(model.config, design)
    if config == model.config:
        return model
    other = build(config, 0)
    other.load_state_dict(model.state_dict())
    return other
