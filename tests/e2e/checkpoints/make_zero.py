"""Checkpoints of DeepSpeed's ZeRO on two processes, as testdata/recorded/torch.tar.zst has them below zero/: make_zero.py FOLDER,
with DeepSpeed 0.16.9 and DS_ACCELERATOR=cpu.

stage1/, stage3/           the folder of the tag, at step 1; bfloat16 parameters, of which one is frozen and one has two names
stage1.pt, stage3.pt       what zero_to_fp32 makes of them"""
import os
import shutil
import sys
import warnings

import deepspeed
import torch
import torch.multiprocessing
from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint
from torch import nn

RANKS = 2
warnings.filterwarnings('ignore')


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.up = nn.Linear(4, 5)  # 5 and 25 elements on 2 ranks
        self.down = nn.Linear(5, 4, bias=False)
        self.frozen = nn.Parameter(torch.arange(3.0), requires_grad=False)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        hidden = self.down(self.up(self.embed(tokens)).relu()) + self.frozen.sum()
        return self.head(hidden).float().logsumexp(-1).sum()


def write(rank, stage, folder):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(29563 + stage), RANK=str(rank), LOCAL_RANK=str(rank),
                      WORLD_SIZE=str(RANKS))
    sys.modules['deepspeed.comm.torch'].build_shm_op = lambda: None  # a C++ extension that it would compile
    deepspeed.init_distributed('gloo')
    torch.manual_seed(0)
    net = Net()
    groups = [{'params': [net.embed.weight, net.up.weight], 'lr': 0.01}, {'params': [net.up.bias, net.down.weight], 'lr': 0.02}]
    config = {'train_batch_size': RANKS, 'bf16': {'enabled': True}, 'zero_allow_untested_optimizer': True,
              'zero_optimization': {'stage': stage, 'sub_group_size': 24}}
    engine = deepspeed.initialize(model=net, optimizer=torch.optim.AdamW(groups), config=config)[0]
    engine.backward(engine(torch.arange(7)))
    engine.step()
    engine.save_checkpoint(f'{folder}/saved{stage}', tag='step')


if __name__ == '__main__':
    target = sys.argv[1]
    for of_stage in (1, 3):
        torch.multiprocessing.spawn(write, (of_stage, target), nprocs=RANKS)
        whole = get_fp32_state_dict_from_zero_checkpoint(f'{target}/saved{of_stage}', tag='step')
        torch.save({name: tensor.clone() for name, tensor in whole.items()}, f'{target}/stage{of_stage}.pt')
        shutil.move(f'{target}/saved{of_stage}/step', f'{target}/stage{of_stage}')
        shutil.rmtree(f'{target}/saved{of_stage}')
