# -v says on stderr what is done, -vv also what is finished, each line with its time. Results stay as they
# are, but those of convert are shown only then.
plain() {
  sed -E 's/^(msdump: \[)[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\]/\1TIME]/; s/ in [0-9.]+ s$/ in N s/; s/(msdump) [0-9.]+ /\1 VERSION /
    s/kernels for .*/kernels for CPU/'
}
cp -r "$TESTDATA/sample" sample
for command in 'ls --io input --slot 1' 'convert -out arrays --op *Mean*' 'find-op --line net.py:23'; do
  # shellcheck disable=SC2086  # words
  (set -f && msdump $command -d sample -j 1 >quiet 2>/dev/null)
  for level in -v -vv; do
    rm -rf arrays
    echo "$command $level"
    # shellcheck disable=SC2086
    (set -f && msdump $command -d sample -j 1 $level 2>err >out)
    plain <err
    cmp -s out quiet || echo "stdout has $(wc -l <out) lines, without $level $(wc -l <quiet)"
  done
done
