"""Checkpoints as torch.save and the library of the safetensors format write them: make_torch.py FOLDER"""
import argparse
import collections
import json
import os
import random
import sys

import numpy
import torch
from safetensors.torch import save_file

import truth

folder = sys.argv[1]
DTYPES = ['float32', 'float64', 'float16', 'bfloat16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'bool', 'float8_e4m3fn',
          'float8_e5m2', 'uint16', 'uint32', 'uint64']
WITHOUT_NUMPY = ('bfloat16', 'float8_e4m3fn', 'float8_e5m2')


def path_of(name):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def name_of(dtype):
    return str(dtype).removeprefix('torch.')


def known(tensor):
    dtype = name_of(tensor.dtype)
    plain = tensor.detach().float() if dtype in WITHOUT_NUMPY else tensor.detach()
    return dtype, plain.numpy().copy()


def tensors_in(value, key=''):
    """{key: tensor} of everything in dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        return {key: value}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    found = {}
    for name, inner in items:
        found.update(tensors_in(inner, f'{key}.{name}' if key else str(name)))
    return found


def save(name, value):
    torch.save(value, path_of(name))
    truth.keep(folder, name, {key: known(tensor) for key, tensor in tensors_in(value).items()})


def save_tensors(name, tensors):
    save_file(tensors, path_of(name), metadata={'format': 'pt'})
    truth.keep(folder, name, {key: known(tensor) for key, tensor in tensors.items()})


def every_dtype():
    tensors = {f'of_{dtype}': (torch.randn(3, 4) * 5).to(getattr(torch, dtype)) for dtype in DTYPES if dtype != 'uint16'}
    tensors['of_uint16'] = torch.tensor([0, 1, 65535], dtype=torch.uint16)
    tensors['scalar'] = torch.tensor(2.5)
    tensors['empty'] = torch.zeros(0, 3)
    tensors['special'] = torch.tensor([float('nan'), float('inf'), float('-inf'), -0.0])
    return tensors


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(11, 4, padding_idx=0)
        self.norm = torch.nn.BatchNorm1d(4)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(4))
        self.head = torch.nn.Linear(4, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def save_shards(model, kind, write, index_name):
    """As transformers does: so many layers in each, and an index."""
    state = {key: value for key, value in model.state_dict().items() if key != 'head.weight'}
    parts = [dict(list(state.items())[i::3]) for i in range(3)]
    names = [f'{kind[0]}-{i + 1:05d}-of-00003.{kind[1]}' for i in range(3)]
    for name, part in zip(names, parts):
        write(part, path_of(f'{index_name.split(".")[0]}_shards/{name}'))
    index = {'metadata': {'total_size': sum(value.numel() * value.element_size() for value in state.values())},
             'weight_map': {key: name for name, part in zip(names, parts) for key in part}}
    place = f'{index_name.split(".")[0]}_shards'
    with open(path_of(f'{place}/{index_name}'), 'w', encoding='utf-8') as file:
        json.dump(index, file, indent=2)
    truth.keep(folder, place, {key: known(value) for key, value in state.items()})


def main():
    torch.manual_seed(3)
    model = Tied()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.tensor([1, 2, 3])).sum().backward()
    optimizer.step()
    save('state.pt', model.state_dict())
    save('pytorch_model.bin', collections.OrderedDict(model.state_dict()))
    save('epoch.pth', {'state_dict': model.state_dict(), 'epoch': 3, 'best': 0.5})
    save('mp_rank_00_model_states.pt', {
        'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'args': argparse.Namespace(lr=0.1),
        'rng': [{'python': random.getstate(), 'numpy': numpy.random.get_state(), 'torch': torch.get_rng_state()}],
        'iteration': numpy.int64(3)})
    save('lightning.ckpt', {'state_dict': model.state_dict(), 'hyper_parameters': argparse.Namespace(lr=0.1)})
    save('dtypes.pt', every_dtype())
    save('parameters.pt', {'w': torch.nn.Parameter(torch.randn(2, 3)), 'part': torch.randn(4, 5)[2:]})
    save_tensors('dtypes.safetensors', every_dtype())
    save_shards(model, ('model', 'safetensors'), save_file, 'model.safetensors.index.json')
    save_shards(model, ('pytorch_model', 'bin'), torch.save, 'pytorch_model.bin.index.json')


main()
