# A reader who has seen enough ends the run quietly.
mkdir dump
for n in {1..300}; do npy_file "dump/a$n.npy" '<f4' '(2,)' 8; done
msdump info dump/*.npy | head -n 1
echo "${PIPESTATUS[@]}"
msdump info dump/*.npy --jsonl | head -c 10
echo " ${PIPESTATUS[*]}"
