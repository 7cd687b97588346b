"""Runs of a net with the real MindSpore: the dump and the final graphs of each, kept and not repeated."""
import json
import os
import shutil
import subprocess
import sys

from truth import HERE
from walk import Run


def configuration(path):
    return {
        "common_dump_settings": {
            "op_debug_mode": 0, "dump_mode": 0, "path": path, "net_name": "Net", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0]},
        "e2e_dump_settings": {"enable": True, "trans_flag": True}}


def is_complete(folder, texts):
    """Whether the run is there, and is one of these scripts."""
    if not os.path.exists(f"{folder}/complete"):
        return False
    return all(read(f"{folder}/{name}") == text for name, text in texts.items())


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_scripts(folder, texts):
    os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def start(folder, net, steps, dump_configuration, variables=()):
    """The scripts of a folder; what they say goes to its log."""
    environment = dict(os.environ, MINDSPORE_DUMP_CONFIG=dump_configuration, GLOG_v="3", PLANTED_STEPS=str(steps))
    environment.update(variables)
    with open(f"{folder}/log", "w", encoding="utf-8") as log:
        return subprocess.Popen([sys.executable, f"{net}.py"], cwd=folder, env=environment, stdout=log, stderr=log)


def train(folder, net, text, steps, variables=()):
    """Once for a folder and a script; `variables` of the environment too."""
    texts = {f"{net}.py": text, "start.py": read(f"{HERE}/nets/start.py")}
    if is_complete(folder, texts):
        return Run(folder)
    shutil.rmtree(folder, ignore_errors=True)
    write_scripts(folder, texts)
    with open(f"{folder}/data_dump.json", "w", encoding="utf-8") as file:
        json.dump(configuration(f"{folder}/dump"), file)
    graphs = {"MS_DEV_SAVE_GRAPHS": "1", "MS_DEV_SAVE_GRAPHS_PATH": f"{folder}/save_graphs"}
    if start(folder, net, steps, f"{folder}/data_dump.json", {**graphs, **dict(variables)}).wait():
        raise RuntimeError(f"the run failed: {folder}/log")
    keep_final_graphs(f"{folder}/save_graphs")
    open(f"{folder}/complete", "w", encoding="utf-8").close()
    return Run(folder)


def keep_final_graphs(folder):
    for entry in os.scandir(folder):
        if entry.is_dir():
            shutil.rmtree(entry.path)
        elif not entry.name.startswith("trace_code_graph"):
            os.remove(entry.path)
