"""Checkpoints of two processes, as testdata/recorded/torch.tar.zst has them: make_distributed.py FOLDER

whole.pt         the parameters before they are sharded
fsdp2/           torch.save of the state dicts of FSDP2, a file a rank: model and optimizer
forms/           DTensors of a mesh of two dimensions: columns, partial sums, replicas, a Parameter, bfloat16
dcp/, dcp_plain/ torch.distributed.checkpoint, of DTensors and of plain tensors"""
import os
import sys
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing
from torch import nn
from torch.distributed._composable.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

RANKS = 2
warnings.filterwarnings('ignore')


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 5)  # 5 rows on 2 ranks
        self.down = nn.Linear(5, 3, bias=False)
        self.scale = nn.Parameter(torch.ones(1))  # nothing of it on rank 1
        self.register_buffer('count', torch.tensor(7))


def write(rank, folder):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29561', RANK=str(rank), WORLD_SIZE=str(RANKS))
    dist.init_process_group('gloo', rank=rank, world_size=RANKS)
    torch.manual_seed(0)
    for place in ('fsdp2', 'forms'):
        os.makedirs(f'{folder}/{place}', exist_ok=True)
    net = Net()
    if rank == 0:
        torch.save(net.state_dict(), f'{folder}/whole.pt')
    fully_shard(net, mesh=init_device_mesh('cpu', (RANKS,), mesh_dim_names=('dp',)))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    torch.save(net.state_dict(), f'{folder}/fsdp2/model_world_size_{RANKS}_rank_{rank}.pt')
    torch.save(optimizer.state_dict(), f'{folder}/fsdp2/optim_world_size_{RANKS}_rank_{rank}.pt')

    mesh = init_device_mesh('cpu', (1, RANKS), mesh_dim_names=('pp', 'tp'))
    tensor = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    half = tensor.to(torch.bfloat16)
    torch.save({'cols': distribute_tensor(tensor, mesh, [Replicate(), Shard(1)]),
                'partial': DTensor.from_local(tensor, mesh, [Replicate(), Partial()]),
                'copies': distribute_tensor(tensor, mesh['tp'], [Replicate()]),
                'parameter': nn.Parameter(distribute_tensor(tensor, mesh['tp'], [Shard(0)])),
                'half': distribute_tensor(half, mesh['tp'], [Shard(0)])}, f'{folder}/forms/tensors_rank_{rank}.pt')

    dcp.save({'model': net.state_dict(), 'optim': optimizer.state_dict(), 'step': 5,
              'half': distribute_tensor(half, mesh['tp'], [Shard(1)])}, checkpoint_id=f'{folder}/dcp')
    dcp.save({'w': tensor, 'i': torch.arange(3), 'name': 'x'}, checkpoint_id=f'{folder}/dcp_plain')
    dist.destroy_process_group()


if __name__ == '__main__':
    torch.multiprocessing.spawn(write, (sys.argv[1],), nprocs=RANKS)
