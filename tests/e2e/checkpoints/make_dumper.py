"""Tensors that SGLang's dumper writes on one process and on two, as testdata/recorded/torch.tar.zst has them below dumper/:
make_dumper.py FOLDER DUMPER, where DUMPER is sglang/srt/debug_utils/dumper.py of SGLang 0.5.23.

whole/    one process
tp/       two tensor-parallel ones; the shards of `partial`, `copies` and `unstated` are equal"""
import importlib.util
import os
import sys
import types

import torch
import torch.distributed as dist
import torch.multiprocessing


# Stands for a module that the dumper imports, with a function for each name: ranks are 0 and sizes 1.
class Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return lambda *_: 1 if name.endswith('_size') else 0


def dumper_at(path, rank, ranks):
    for name in ('zmq', 'sglang', 'sglang.srt', 'sglang.srt.managers', 'sglang.srt.managers.io_struct',
                 'sglang.srt.runtime_context', 'sglang.srt.utils', 'megatron', 'megatron.core',
                 'megatron.core.parallel_state', 'megatron.core.packed_seq_params', 'megatron.core.tensor_parallel',
                 'megatron.core.tensor_parallel.random'):
        sys.modules[name] = Module(name)
    parallel = sys.modules['megatron.core'].parallel_state = sys.modules['megatron.core.parallel_state']
    parallel.get_tensor_model_parallel_rank = lambda: rank
    parallel.get_tensor_model_parallel_world_size = lambda: ranks
    sys.modules['megatron.core.packed_seq_params'].PackedSeqParams = type('PackedSeqParams', (), {})
    spec = importlib.util.spec_from_file_location('dumper', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules['dumper'] = module
    spec.loader.exec_module(module)
    return module.dumper


def write(rank, ranks, folder, path):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29562', DUMPER_ENABLE='1', DUMPER_DIR=folder,
                      DUMPER_EXP_NAME='whole' if ranks == 1 else 'tp', DUMPER_ENABLE_OUTPUT_CONSOLE='0')
    if ranks > 1:
        dist.init_process_group('gloo', rank=rank, world_size=ranks)
    dumper = dumper_at(path, rank, ranks)
    torch.manual_seed(0)
    hidden, equal, twice = torch.randn(3, 8), torch.randn(3, 4), ranks == 1
    dumper.dump('hidden', hidden.chunk(ranks, 1)[rank].contiguous(), dims='t h[tp]', layer_id=0)
    dumper.dump('copies', equal, dims='t h', layer_id=0)
    dumper.dump('partial', equal * (1 + twice), dims='t h[tp:partial]', layer_id=0)
    dumper.dump('unstated', equal * (1 + twice), layer_id=0)
    dumper.step()
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == '__main__':
    for processes in (1, 2):
        torch.multiprocessing.spawn(write, (processes, *sys.argv[1:]), nprocs=processes)
