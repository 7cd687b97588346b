# One tensor with a NaN, in the dialect of every version that changed it.
npy Add.Default_Add-op1.0.0.1700000000000001.input.0.DefaultFormat.npy '<f4' '(2, 2)' \
  '\0\0\x80\x3f\0\0\xc0\x7f\0\0\0\xc0\0\0\0\0'
for version in 1.8.1 2.2.14 2.3.0 2.4.0 2.5.0 2.7.0 2.7.1 2.10.0; do
  echo "# $version"
  msdump stats -q --csv --dialect "$version"
done
echo '# every column'
msdump stats -q --csv --dialect 2.7.1 --columns \
  'max,min,avg,count,negative zero count,positive zero count,nan count,negative inf count,positive inf count,zero count,l2norm,md5,hash'
