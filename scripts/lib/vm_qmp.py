# SPDX-License-Identifier: MIT
"""QEMU's machine protocol (QMP), as much as is needed."""

import json
import socket

TIMEOUT_S = 30


class QmpError(Exception):
    """QEMU refused a command, or went away."""


class Monitor:
    """A connection to QEMU's monitor."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw", encoding="utf-8")
        self.receive()  # its greeting
        self.execute("qmp_capabilities")

    def receive(self):
        """The next message."""
        line = self.file.readline()
        if not line:
            raise QmpError("QEMU has closed the connection")
        return json.loads(line)

    def execute(self, command, **arguments):
        """Run a command and return what it returns; events that come first are of no interest."""
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            message = self.receive()
            if "error" in message:
                raise QmpError(f"{command}: {message['error']['desc']}")
            if "return" in message:
                return message["return"]
