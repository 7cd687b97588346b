"""What a writer was given, kept for the check: FOLDER/truth/NAME.npz with an array for each parameter, of a dtype that numpy
has, and NAME.json with {parameter: dtype as msdump calls it}. NAME is the path of the checkpoint, with '+' for '/'."""
import json
import os

import numpy


def keep(folder, checkpoint, parameters):
    """`parameters`: {name: (dtype, array)}, those that the checkpoint holds."""
    os.makedirs(os.path.join(folder, 'truth'), exist_ok=True)
    base = os.path.join(folder, 'truth', checkpoint.replace('/', '+'))
    # Names of parameters are not always names of files.
    numpy.savez(base + '.npz', *[array for _, array in parameters.values()])
    with open(base + '.json', 'w', encoding='utf-8') as file:
        json.dump([[name, dtype] for name, (dtype, _) in parameters.items()], file)


def all_kept(folder):
    """(checkpoint, {name: (dtype, array)}), in the order of names."""
    for name in sorted(os.listdir(os.path.join(folder, 'truth'))):
        stem, suffix = os.path.splitext(name)
        if suffix != '.json':
            continue
        base = os.path.join(folder, 'truth', stem)
        with open(base + '.json', encoding='utf-8') as file:
            names = json.load(file)
        arrays = numpy.load(base + '.npz')
        yield stem.replace('+', '/'), {name: (dtype, arrays[f'arr_{i}']) for i, (name, dtype) in enumerate(names)}
