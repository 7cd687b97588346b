"""Faults of the other modules again, each in another run than the one it was written for."""
from fault import again

AGAIN = """
tp-reduce-mean gpt-bf16-tp2
tp-reduce-group bf16-tp2-dp2
tp-vocabulary-start mix-tp2
tp-loss-total odd-tp3-dp2
tp-gelu-one-rank gpt-bf16-tp2-pp2-dp2
tp-bias-twice gpt-tp2-sp-cp2
tp-flip-norm gpt-tp2-sp-cp2
tp-flip-shard gpt-tp4
tp-stale-rank odd-tp3-dp2
tp-stale-parameter gpt-tp2-dp2-broadcast
tp-dropout-one-rank bf16-tp2
sp-gather-order gpt-bf16-sp2
sp-scatter-mean llama-tp2-sp-pp2
cp-zigzag-slice gpt-cp2-zigzag-ring
cp-gather-missing gpt-tp2-sp-cp2
cp-ring-total llama-cp4-ring
cp-ring-positions llama-cp4-ring
cp-gradients-missing llama-tp2-sp-cp2-dp2
dp-reduce-norm gpt-dp2
dp-rate-one-rank bf16-tp2-dp2
dp-bucket-offset bf16-tp2-dp2
dp-flip-gradient llama-tp2-sp-cp2-dp2
dp-flip-parameter gpt-tp2-dp2-broadcast
pp-send-bf16 llama-tp2-sp-pp2
ep-exchanged-two moe-top1-ep2
ep-combine-order moe-mix-ep2
ep-gradients-mixed moe-ep4
ep-temperature moe-ep2-dp2
ep-dense-stale moe-ep4-dp2
mlp-reduce-missing mlp-tp4-dp2
mlp-bias-twice mlp-bf16-tp2
mlp-reduce-missing-one mlp-bf16-dp4
bf16-reduce-missing gpt-tp2-pp2-dp2
nan-experts moe-ep2-dp2
bf16-stage-half gpt-tp2-pp2-dp2
conv4-slope-one-rank conv-dp2
moe4-router-gradients moe-ep4-dp2
gather-backward-half gpt-tp2-sp-pp2-dp2
dense-shift moe-bf16-ep2
ring-old llama-cp4-ring
head-one-rank odd-tp3
gathered-twice llama-tp2-sp-pp2
bias-doubled gpt-bf16-tp2-pp2-dp2
bias-in-sum gpt-bf16-tp2-pp2-dp2
scores-not-scaled gpt-sp2
rotary-neighbours gpt-tp2-pp2-dp2
context-gradient-local llama-tp2-sp-cp2-dp2
norm-stale mix-sp2-dp2
weights-one moe-mix-ep2
tokens-dropped moe-ep2-dp2
stage-rounded gpt-pp2-batched
stage-gradient-twice gpt-bf16-tp2-pp2-dp2
softmax-of-queries gpt-tp2-cp2-dp2
norm-left-out gpt-tp2-sp-pp2-dp2
tanh-left-out mlp-bf16-tp2
"""
for line in AGAIN.split("\n")[1:-1]:
    again(*line.split())
