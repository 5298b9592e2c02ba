# SPDX-License-Identifier: Apache-2.0
"""A wheel with programs inside is for one kind of machine, but for every Python."""

import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):
    def initialize(self, version, build_data):
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
