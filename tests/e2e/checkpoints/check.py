"""What msdump says about the checkpoints of make_mindspore.py and make_torch.py, against what numpy says about the arrays that
these writers were given: check.py MSDUMP FOLDER"""
import json
import os
import subprocess
import sys

import numpy

import truth

msdump, folder = sys.argv[1:]
COLUMNS = 'max,min,avg,count,nan_count,l2norm'
counts = {'checkpoints': 0, 'parameters': 0, 'numbers': 0}
faults = []


def rows(*arguments, expected=(0,)):
    run = subprocess.run([msdump, *arguments, '--json'], capture_output=True, text=True, check=False)
    if run.returncode not in expected:
        faults.append(f'{" ".join(arguments)}: exit {run.returncode}: {run.stderr.strip()}')
        return []
    return json.loads(run.stdout)['rows']


def expected_numbers(array):
    if array.size == 0:
        return {}
    # Piece by piece: one has 300 million elements.
    pieces = numpy.array_split(array.ravel(), array.size // 1_000_000 + 1)
    squares = sum(float(numpy.square(piece.astype('float64')).sum()) for piece in pieces)
    return {'count': array.size, 'nan_count': sum(int(numpy.isnan(piece).sum()) for piece in pieces),
            'max': float(array.max()), 'min': float(array.min()), 'l2norm': numpy.sqrt(squares)}


def agree(column, found, wanted):
    found = float('nan') if found is None else float(found)
    if numpy.isnan(wanted) or numpy.isinf(wanted):
        return found == wanted or (numpy.isnan(wanted) and numpy.isnan(found))
    return found == wanted or (column == 'l2norm' and abs(found - wanted) <= 1e-12 * abs(wanted))


def check_rows(place, listed, parameters):
    names = {row['op_name'] for row in listed}
    for name in sorted(names ^ parameters.keys()):
        faults.append(f'{place}: {name} is {"listed and was not saved" if name in names else "not listed"}')
    for row in listed:
        if row['op_name'] not in parameters:
            continue
        dtype, array = parameters[row['op_name']]
        counts['parameters'] += 1
        said = (row['io'], row['dtype'], tuple(row['shape']))
        if said != ('parameter', dtype, array.shape):
            faults.append(f'{place}: {row["op_name"]}: {said}, not {dtype} {array.shape}')


def check_numbers(place, stats, parameters):
    for row in stats:
        if row['op_name'] not in parameters:
            continue
        for column, wanted in expected_numbers(parameters[row['op_name']][1]).items():
            counts['numbers'] += 1
            if not agree(column, row[column], wanted):
                faults.append(f'{place}: {row["op_name"]}: {column} {row[column]}, numpy says {wanted}')


def check_tensor_dump(place, runs):
    """Runs of an operator in the order of its counter."""
    stats = rows('stats', '-d', os.path.join(folder, place), '--exact', '--columns', COLUMNS)
    found = {f'{row["op_name"]} {row["occurrence"]}': row for row in stats}
    if found.keys() != runs.keys():
        faults.append(f'{place}: {sorted(found)}, not {sorted(runs)}')
    check_numbers(place, [{**row, 'op_name': key} for key, row in found.items()], runs)


def main():
    for place, parameters in truth.all_kept(folder):
        counts['checkpoints'] += 1
        path = os.path.join(folder, place)
        if place == 'tensor_dump':
            check_tensor_dump(place, parameters)
            continue
        check_rows(place, rows('ls', '-d', path), parameters)
        check_numbers(place, rows('stats', '-d', path, '--exact', '--columns', COLUMNS), parameters)
        # The values of `special` are not finite on purpose; nothing else is a fault.
        findings = rows('check', '-d', path, expected=(0, 1))
        for finding in findings:
            if finding['severity'] != 'note' and finding['op_name'] != 'special':
                faults.append(f'{place}: check: {finding["kind"]} {finding["op_name"]}: {finding["message"]}')
        for name in os.listdir(path) if os.path.isdir(path) else []:
            if name.endswith('.index.json'):
                rows('info', os.path.join(path, name))
    print(', '.join(f'{number} {what}' for what, number in counts.items()), f'- {len(faults)} faults')
    for fault in faults[:50]:
        print(' ', fault)
    return 1 if faults or counts['numbers'] == 0 else 0


sys.exit(main())
