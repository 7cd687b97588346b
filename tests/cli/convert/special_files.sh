# A FIFO is refused without waiting for a writer; links are followed, a loop of links ends; a dangling link is named.
mkdir -p dump/step
dump_file dump/step/Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
mkfifo dump/step/Relu.fifo.2.7.1700000000000002 dump/step/other
ln -s .. dump/step/up
ln -s step dump/again
ln -s nowhere dump/Relu.dangling.3.7.1700000000000003
timeout 20 msdump convert -d dump -out npy -f NCHW
echo "exit $?"
files npy
