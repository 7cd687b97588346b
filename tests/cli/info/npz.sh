# Arrays that numpy saved together are parameters, by name, stored or compressed; a file that is not what its name says is
# called what it is.
command -v python3 >/dev/null || exit 77
python3 - <<'P'
import struct, zipfile
def array(values):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += b' ' * (-(len(header) + 11) % 64) + b'\n'
    return b'\x93NUMPY\x01\0' + struct.pack('<H', len(header)) + header + struct.pack('<%df' % len(values), *values)
def save(path, method, **arrays):
    with zipfile.ZipFile(path, 'w', method) as zip:
        for name, values in arrays.items(): zip.writestr(name + '.npy', array(values))
save('a.npz', zipfile.ZIP_STORED, weight=[1, 2, 3], bias=[0.5] * 400)
save('b.npz', zipfile.ZIP_DEFLATED, weight=[1, 2, 4], bias=[0.5] * 400)
data = bytearray(open('a.npz', 'rb').read())
data[data.index(struct.pack('<f', 3))] ^= 1
open('damaged.npz', 'wb').write(data)
P
show msdump info b.npz --values '[:3]'
show msdump ls -d a.npz --csv
show msdump diff b.npz a.npz -q --csv
show msdump stats -d damaged.npz -q
show msdump convert -d b.npz -out npy -q
files npy
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 4976698672\n' >model.safetensors
cp a.npz other.safetensors
show msdump info -q model.safetensors
show msdump ls -d model.safetensors
show msdump info -q other.safetensors
