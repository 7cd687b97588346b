"""Checkpoints as mindspore.save_checkpoint writes them, and tensors of ops.TensorDump, on the CPU:

  make_mindspore.py FOLDER"""
import os
import sys
import time

import mindspore
import numpy
from mindspore import Tensor, nn, ops

import truth

folder = sys.argv[1]
random = numpy.random.default_rng(7)
INTEGERS = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
BIG = (1000, 300_001)  # of float16: more than the 512 MiB that one value holds


def path_of(name):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def every_dtype():
    """{name: (dtype, array, tensor)}"""
    arrays = {'conv1.weight': random.normal(size=(4, 3, 3, 3)).astype('float32'),
              'fc.weight': random.normal(size=(5, 7)).astype('float16'),
              'fc.bias': random.normal(size=7),
              'norm.gamma': numpy.ones(5, 'float32'),
              'flags': numpy.array([True, False, True]),
              'scalar': numpy.array(2.5, 'float32'), 'step': numpy.array(-3, 'int64'), 'flag': numpy.array(True),
              'one': numpy.array([1.5], 'float32'),
              'special': numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, 1], 'float32')}
    for dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        arrays['of_' + dtype] = random.integers(limits.min, limits.max, size=(2, 5), dtype=dtype, endpoint=True)
    made = {name: (array.dtype.name, array, Tensor(array)) for name, array in arrays.items()}
    bfloat16 = Tensor(random.normal(size=(3, 4)).astype('float32')).astype(mindspore.bfloat16)
    made['of_bfloat16'] = ('bfloat16', bfloat16.astype(mindspore.float32).asnumpy(), bfloat16)
    return made


def save(name, parameters, **options):
    mindspore.save_checkpoint([{'name': key, 'data': tensor} for key, (_, _, tensor) in parameters.items()], path_of(name),
                              **options)
    truth.keep(folder, name, {key: (dtype, array) for key, (dtype, array, _) in parameters.items()})


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.table = nn.Embedding(11, 6)
        self.fc = nn.Dense(6, 2)


def save_nets():
    net = Net()
    optimizer = nn.Adam(net.trainable_params())
    for name, cell in (('net.ckpt', net), ('optimizer.ckpt', optimizer)):
        mindspore.save_checkpoint(cell, path_of(name))
        truth.keep(folder, name, {key: (parameter.asnumpy().dtype.name, parameter.asnumpy())
                                  for key, parameter in cell.parameters_dict().items()})


def dump_tensors():
    """{op}_{dtype}_{counter}.npy; the runs of one operator are told apart by the counter."""
    dump = ops.TensorDump()
    runs = {}
    for step in range(3):
        for name, scale in (('mul', 2), ('x', 1)):
            array = (numpy.arange(6, dtype='float32').reshape(2, 3) + step) * scale
            dump(path_of('tensor_dump/' + name), Tensor(array))
            runs[f'{name} {step}'] = ('float32', array)
    while len(os.listdir(os.path.join(folder, 'tensor_dump'))) < len(runs):
        time.sleep(0.1)
    truth.keep(folder, 'tensor_dump', runs)


def main():
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target='CPU')
    parameters = every_dtype()
    save('dtypes.ckpt', parameters)
    save('checked.ckpt', parameters, crc_check=True)
    with_numpy = {key: value for key, value in parameters.items() if value[0] != 'bfloat16'}  # not asynchronously
    save('async.ckpt', with_numpy, async_save=True)
    while mindspore.async_ckpt_thread_status():
        time.sleep(0.1)
    # A rank in its folder, with what a training appends.
    rank = {'fc.weight': parameters['fc.weight']}
    mindspore.save_checkpoint([{'name': 'fc.weight', 'data': rank['fc.weight'][2]}], path_of('ranks/rank_3/net.ckpt'),
                              append_dict={'epoch_num': 3, 'lr': 0.5, 'done': True, 'note': 'text'})
    truth.keep(folder, 'ranks/rank_3/net.ckpt', {
        'fc.weight': rank['fc.weight'][:2], 'epoch_num': ('int64', numpy.array(3)),
        'lr': ('float32', numpy.array(0.5, 'float32')), 'done': ('bool', numpy.array(True))})
    save('mindspore.safetensors', with_numpy, format='safetensors')
    save_nets()
    big = numpy.resize(random.normal(size=100_003).astype('float16'), BIG)
    save('big.ckpt', {'before': parameters['one'], 'table': ('float16', big, Tensor(big)), 'after': parameters['fc.bias']})
    dump_tensors()


main()
