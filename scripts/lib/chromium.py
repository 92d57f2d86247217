# SPDX-License-Identifier: MIT
"""Headless Chromium through its debugging pipe: no other module than Python's own is needed."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Page:
    """One page of a browser of its own. Events are kept by name in `events`."""

    def __init__(self, executable: str):
        self.directory = tempfile.mkdtemp(prefix="vramlab-chromium-")
        commands_read, self.commands = os.pipe()
        self.answers, answers_write = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.directory}", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-component-update",
                   "--disable-background-networking", "--hide-scrollbars", "--force-device-scale-factor=1"]
        if os.getuid() == 0:
            options.append("--no-sandbox")
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands_read} 4>&{answers_write}', "chromium", executable, *options, "about:blank"],
            pass_fds=(commands_read, answers_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands_read)
        os.close(answers_write)
        self.number = 0
        self.session = None
        self.pending = b""
        self.results = {}
        self.events = {}
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        for fd in (self.commands, self.answers):
            os.close(fd)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def read(self, seconds: float):
        """Takes what has come, waiting at most so long for something to come."""
        if not select.select([self.answers], [], [], max(0, seconds))[0]:
            return
        data = os.read(self.answers, 1 << 20)
        if not data:
            raise RuntimeError("the browser has ended")
        *messages, self.pending = (self.pending + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.results[message["id"]] = message
            else:
                self.events.setdefault(message["method"], []).append(message["params"])

    def call(self, method: str, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while self.number not in self.results:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{method}: no answer in two minutes")
            self.read(deadline - time.monotonic())
        answer = self.results.pop(self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def evaluate(self, expression: str):
        """The expression's value; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def settle(self, seconds: float = 0.3):
        """Lets the page lay itself out and draw."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(end - time.monotonic())

    def resize(self, width: int, height: int):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url: str):
        self.events = {}
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while "Page.loadEventFired" not in self.events:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{url}: not loaded in a minute")
            self.read(deadline - time.monotonic())
        self.settle()

    def key(self, key: str, code: int, text: str = ""):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def complaints(self) -> list:
        """What the page wrote to the console, what it threw, what the browser had to say."""
        out = [e["exceptionDetails"]["text"] + " " + e["exceptionDetails"].get("exception", {}).get("description", "")
               for e in self.events.get("Runtime.exceptionThrown", [])]
        out += [f"{e['type']}: {[a.get('value', a.get('description')) for a in e['args']]}"
                for e in self.events.get("Runtime.consoleAPICalled", [])]
        out += [f"{e['entry']['level']}: {e['entry']['text']}" for e in self.events.get("Log.entryAdded", [])]
        return out

    def requests(self) -> list:
        return [e["request"]["url"] for e in self.events.get("Network.requestWillBeSent", [])]
