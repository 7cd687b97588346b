"""Headless Chromium through chromedriver's HTTP interface (W3C WebDriver), with nothing but the standard library.

One browser serves all pages. Every page is opened from file://; `requests` lists what a page asked the network for and
`complaints` what it wrote to the console or threw.
"""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013", "Left": "\ue012",
        "Right": "\ue014", "Home": "\ue011", "End": "\ue010", "PageDown": "\ue00f"}


def missing():
    """The programs that are not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    def __init__(self, width=1280, height=900, javascript=True):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._root = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self._session = ""
        try:
            self._wait_for_driver()
            self._session = "/session/" + self._start(width, height, javascript)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._session:
            try:
                self._send("DELETE", self._session)
            except OSError:
                pass
        self._driver.terminate()
        self._driver.wait()

    def _wait_for_driver(self):
        for _ in range(200):
            try:
                if self._send("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _start(self, width, height, javascript):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-color-profile=srgb", f"--window-size={width},{height}"]
        options = {"args": arguments}
        if not javascript:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        return self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _send(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._root + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def _ask(self, path, body=None):
        return self._send("POST", self._session + path, body)

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._ask("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        for kind in ("browser", "performance"):
            self._ask("/se/log", {"type": kind})  # what the page before left
        self._ask("/url", {"url": "file://" + urllib.request.quote(str(path))})

    def run(self, script, *arguments):
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=30):
        """Until the expression holds; its value."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            value = self.run("return " + script)
            if value:
                return value
            time.sleep(0.03)
        raise AssertionError(f"never true: {script}")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def _element(self, selector):
        return self._ask("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._ask(f"/element/{self._element(selector)}/click")

    def type(self, selector, text):
        self._ask(f"/element/{self._element(selector)}/value", {"text": text})

    def clear(self, selector):
        self._ask(f"/element/{self._element(selector)}/clear")

    def press(self, key):
        value = KEYS.get(key, key)
        self._ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]}]})

    def drag(self, start, end):
        """With the mouse, from one place of the window to another; the same place is a click."""
        def move(place):
            return {"type": "pointerMove", "duration": 30, "x": int(place[0]), "y": int(place[1])}
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        actions = [move(start), down, up] if start == end else [move(start), down, move(middle), move(end), up]
        self._ask("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def screenshot(self, path):
        with open(path, "wb") as image:
            image.write(base64.b64decode(self._send("GET", self._session + "/screenshot")))

    def complaints(self):
        return [entry["message"] for entry in self._ask("/se/log", {"type": "browser"})]

    def requests(self):
        """The addresses that were asked for, but for the page itself."""
        seen = []
        for entry in self._ask("/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent" and message["params"].get("type") != "Document":
                seen.append(message["params"]["request"]["url"][:200])
        return seen
