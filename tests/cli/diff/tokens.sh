# shellcheck source=tokens.bash
source "$(dirname "${BASH_SOURCE[0]}")/tokens.bash"
packed packed
padded padded
rollout good
at_once calls
# Later tokens are wrong from layer 1 on.
FAULT='+(p>=3&&id>0?1:0)*0.25' rollout bad
LATE=4 rollout late
LATE=9 padded with_positions

echo '== the same in three forms'
show msdump diff good packed
show msdump diff good padded
show msdump diff padded packed
show msdump diff calls padded
echo '== a fault of later tokens'
show msdump diff bad padded
msdump diff bad packed --rows roots --json -q | jq '.tokens, (.first_divergence[0] | {op_name, rule}), .rows[0].tokens' || true
show msdump diff bad packed --csv --rows roots -q
echo '== wrong positions'
show msdump diff late with_positions --rows roots
echo '== the texts of tokens'
printf '{"model":{"vocab":{"\u0120":1,"\u0120the":7,"\u010a":4}},"added_tokens":[{"id":5,"content":"<s>"}]}' >tokenizer.json
msdump diff bad padded --tokenizer tokenizer.json -q | grep -a 'token first' || true
msdump diff bad padded --tokenizer tokenizer.json -q --json | jq '.tokens.first | {token_id, text}' || true
show msdump diff packed packed --tokenizer tokenizer.json -q
printf '{"model":{"vocab":[["the",-1.5]]}}' >unigram.json
show msdump diff bad padded --tokenizer unigram.json
show msdump diff bad padded --tokenizer missing.json
echo '== as they are'
show msdump diff good packed --no-tokens --rows roots
echo '== --tokens where nothing tells'
mkdir -p other/step0/rank0
cp -r packed/step0/rank0/. other/step0/rank0
rm other/step0/rank0/dump_tensor_data/*Embedding*
sed -i 's/"Module.model.embed_tokens[^]]*\][^]]*\][^}]*},//' other/step0/rank0/dump.json
show msdump diff good other --tokens
show msdump diff packed packed --tokens
echo '== words and kinds from two tables, or from one, beside a table of places: no tokens'
looked_up apart '6,6' 40 '3,6' 50 '3,6' 40
looked_up joined '6,6' 40 '3,6,2' 90
show msdump diff joined apart
echo '== words of two batches, and their places'
looked_up all '6,6' 12 '3,6' 50
looked_up first '6,6' 12 '2,6' 50
show msdump diff first all --rows all
