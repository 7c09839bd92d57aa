"""The twin's tasks as Gymnasium environments. Importing this registers `yam_vam/PutOn-v0`.

gymnasium.make("training.environments:yam_vam/PutOn-v0", object="red cube", receptacle="box")
"""

from __future__ import annotations

import gymnasium

from training.evaluate.suite import MOST_ROWS

PUT_ON = "yam_vam/PutOn-v0"

if PUT_ON not in gymnasium.registry:
    gymnasium.register(PUT_ON, entry_point="training.environments.put_on:PutOn", max_episode_steps=MOST_ROWS)
