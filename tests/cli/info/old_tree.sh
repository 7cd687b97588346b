# Raw files of MindSpore 1.0 to 1.2: shape and dtype stand in the names, and so does what the sizes contradict.
mkdir -p dump/Net/device_0/iteration_1
cd dump/Net/device_0/iteration_1 || exit
head -c 24 /dev/zero >Default--net--Conv2D-op12_output_0_shape_2_3_Float32_DefaultFormat.bin
head -c 20 /dev/zero >Default--net--Relu-op13_output_0_shape_2_3_Float32_DefaultFormat.bin
head -c 4 /dev/zero >Default--loss_output_0_shape_0_Float32_DefaultFormat.bin
cd - >/dev/null || exit
msdump info dump
echo "exit $?"
show msdump info -q dump/Net/device_0/iteration_1/*Relu*
msdump info -q dump/Net/device_0/iteration_1/*Conv2D*
