# Lines out of scripts written for msaccucmp.py convert work as they are.
mkdir dump
dump_file dump/Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
dump_file dump/MatMul.b.2.7.1700000000000002 29 '2 1 16 16' '4 20'
show msdump convert -d dump -out o1 -f NCHW -t npy
show msdump convert -d dump/Relu.a.1.7.1700000000000001,dump/MatMul.b.2.7.1700000000000002 -out o2
show msdump convert --dump_file dump/MatMul.b.2.7.1700000000000002 --output o3 --format NCHW --shape 4,20 --type bin -v 2
show msdump convert -d dump/Relu.a.1.7.1700000000000001 -out=o4 -f nhwc -t msnpy --version 1
for out in o1 o2 o3 o4; do
  echo "$out"
  files "$out"
done
