"""One run: the program, dumped, with its checkpoint and the rows of each step. RUN is a JSON object with its settings.

rows.json: the sequences, and of each step the shape of the ids, which (sequence, position) each is (null: padding), and those
of the rows that have logits. Megatron's other tensors have the sequence first, then the batch. trace.pt, for the truth alone:
what each module returned, in order.
"""
import json
import os

import torch
from safetensors.torch import save_file

import dumps
import megatron
import rollout
import trainer
from model import CONFIGS, sequences, weights

settings = json.loads(os.environ["RUN"])
torch.set_num_threads(1)
torch.manual_seed(0)
config, folder = CONFIGS[settings["net"]], settings["folder"]
dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[settings["dtype"]]
data = sequences(settings["data"], settings["seed"])
steps, trace = [], []


def record(model):
    def keep(name, output):
        values = [one.clone() for one in (output if isinstance(output, tuple) else (output,)) if torch.is_tensor(one)]
        trace.append((len(steps), name, values))

    for name, module in model.named_modules():
        module.register_forward_hook(lambda _, __, output, name=name: keep(name, output))


def train():
    if settings["form"].startswith("megatron"):
        model = megatron.GPTModel(config)
        model.load(weights(config))
    else:
        model = trainer.CausalLM(config)
        model.load_state_dict(weights(config))
    model.to(dtype).eval()
    order = sorted(range(len(data)), key=lambda index: -sum(map(len, data[index])))
    batches = {"padded": [trainer.padded_batch(data)], "packed": [trainer.packed_batch(data, order)],
               "micro": [trainer.packed_batch(data, order[half::2]) for half in range(2)]}[settings["form"].split("_")[-1]]
    dump = dumps.start(settings["writer"], model, f"{folder}/dump")
    for inputs, rows in batches:
        fields = {name: inputs[name] for name in ("input_ids", "position_ids")}
        if "cu_seqlens" in inputs:
            fields |= {"cu_seqlens_q": inputs["cu_seqlens"], "cu_seqlens_kv": inputs["cu_seqlens"], "qkv_format": "thd"}
        dump.begin(fields)
        model(**inputs)
        dump.end()
        steps.append({"shape": list(inputs["input_ids"].shape), "rows": rows, "logits": rows})
    return model


def roll():
    model = rollout.CausalLM(config, dtype)
    model.load_weights(weights(config), weights(config, version=0))
    model.to(dtype).eval()
    record(model)
    requests = [rollout.Request(index, *data[index]) for index in settings["order"]]
    budget, shared = {"paged": (1000, False), "chunked": (10, False), "prefix": (1000, True),
                      "left": (0, False)}[settings["form"]]
    if settings["form"] != "chunked":
        for place, request in enumerate(requests):
            request.arrival = place // 2 if shared else int(place >= settings["first"])
    engine = rollout.padded_batches(requests) if settings["form"] == "left" else rollout.Engine(
        requests, budget, shared).batches()
    dump = dumps.start(settings["writer"], model, f"{folder}/dump")
    for batch in engine:
        rollout.Context.batch = batch
        dump.begin({name: getattr(batch, name) for name in ("input_ids", "seq_lens", "positions", "req_pool_indices", "rids")})
        model(batch.input_ids, batch.positions, batch)
        dump.end()
        last = (batch.query_start_loc[1:] - 1).tolist() if batch.places is None else range(
            batch.input_ids.shape[1] - 1, batch.input_ids.numel(), batch.input_ids.shape[1])
        steps.append({"shape": list(batch.input_ids.shape), "rows": batch.rows, "logits": [batch.rows[row] for row in last]})
    return model


os.makedirs(f"{folder}/dump", exist_ok=True)
with torch.no_grad():
    net = {"trainer": train, "rollout": roll}[settings["side"]]()
os.makedirs(f"{folder}/weights")
save_file({name: value.contiguous() for name, value in net.state_dict().items()}, f"{folder}/weights/model.safetensors")
if trace:
    torch.save(trace, f"{folder}/trace.pt")
with open(f"{folder}/rows.json", "w", encoding="utf-8") as file:
    json.dump({"side": settings["side"], "sequences": [prompt + response for prompt, response in data], "steps": steps}, file)
