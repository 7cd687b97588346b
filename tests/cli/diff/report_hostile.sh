# Names, lines of a script and paths that try to be markup stay text.
hostile='<img src=x onerror=alert(1)>'
dir=$'a\n<script>alert(1)<'
for side in "$dir" good; do
  mkdir -p "$side/rank_0/Net/0/0" "$side/rank_0/graphs" "$side/rank_0/.dump_metadata"
  echo '{"ms_version":"2.10.0"}' >"$side/rank_0/.dump_metadata/config.json"
  value=2
  [[ $side == good ]] || value=3
  npy "$side/rank_0/Net/0/0/Mul.Default_${hostile}_Mul-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" \
    '<f4' '(1,)' "$(f32 "$value")"
done
msdump diff "$dir" good --report page.html >/dev/null 2>&1; echo "exit $?"
grep -c '<img' page.html
grep -c '<script>alert' page.html
grep -o 'class="text c-op_name">[^/]*</td>' page.html
grep -o '<dt>candidate</dt><dd><b>[^/]*</b>' page.html
grep -o '<br><code>.*<.code>' page.html | sed "s|$PWD|HERE|"
