msdump --version
msdump --version >first
msdump -V | cmp - first
msdump convert --version | cmp - first
msdump convert -V | cmp - first
