# A reader that has gone is not an error; results that cannot be written are.
set -o pipefail
msdump convert --list-dtypes | true
echo "to a closed pipe: ${PIPESTATUS[0]}"
msdump convert --list-dtypes | head -n 1
echo "to head: ${PIPESTATUS[0]}"
msdump convert --list-dtypes >/dev/full
echo "to a full disk: $?"
msdump convert --list-dtypes >&-
echo "to nothing: $?"
msdump convert --list-dtypes 2>&- >/dev/null
echo "without stderr: $?"
