"""ament_python package; colcon builds it, and `python -m yam_vam.NODE` runs it unbuilt."""

import os
from glob import glob

from setuptools import setup

NAME = "yam_vam"
# The launch files live at the top of the repository, where `ros2 launch launch/sim.launch.py` finds them. `colcon build
# --symlink-install` runs a link to this file from a folder of its own, so the way there begins at the real file.
HERE = os.path.dirname(os.path.realpath(__file__))
LAUNCH = os.path.relpath(os.path.join(HERE, "..", "..", "..", "launch"))
NODES = ("client", "cameras", "leader", "recorder", "twin", "arms_bridge")

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME, f"{NAME}.bench"],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", sorted(glob(os.path.join(LAUNCH, "*.py")))),
        (f"share/{NAME}/config", sorted(glob("config/*"))),
        (f"share/{NAME}/urdf", sorted(glob("urdf/*.urdf"))),
        (f"share/{NAME}/rviz", sorted(glob("rviz/*.rviz"))),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="The authors",
    maintainer_email="maintainers@example.org",
    description="ROS 2 nodes and launch files of real-time video-action control of bimanual YAM arms",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [*(f"{node} = {NAME}.{node}:main" for node in NODES), f"bench = {NAME}.bench.__main__:main"]
    },
)
