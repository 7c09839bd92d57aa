"""Processes that train one model together, one a GPU: `accelerate launch -m training.cli run FILE`.

One process alone is the usual case and changes nothing.

Every process draws its own samples; gradients are averaged before each step, so all keep the same weights, and a step
sees `batch` observations of each process. Gradients are averaged here and not by DistributedDataParallel, because a
stage calls the parts of the model and never its `forward`, and different steps train different parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from accelerate import Accelerator
from torch import Tensor, nn


class Team:
    """This process and the others. Its device is the default one for new tensors from here on."""

    def __init__(self) -> None:
        self._accelerator = Accelerator()
        self.device: torch.device = self._accelerator.device
        self.number: int = self._accelerator.process_index
        self.main: bool = self._accelerator.is_main_process
        """Whether this process logs, validates and saves."""
        if self.device.type != "cpu":
            torch.set_default_device(self.device)

    def average(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace each gradient by its mean over all processes; a part that some process left out counts as zero."""
        if self._accelerator.num_processes == 1:
            return
        flat = torch.cat([_gradient(parameter).flatten() for parameter in parameters])
        mean = self._accelerator.reduce(flat, reduction="mean")
        for parameter, part in zip(parameters, mean.split([p.numel() for p in parameters]), strict=True):
            parameter.grad = part.view_as(parameter).clone()

    def wait(self) -> None:
        """Until all processes are here."""
        self._accelerator.wait_for_everyone()


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
