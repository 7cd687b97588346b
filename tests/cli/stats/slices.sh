# A dump of msprobe 26.2.0 with `"slice": [{"dim": 1, "size": 8, "begin": 2, "end": 5}]`: torch.sum(torch.relu(x), dim=1) for x of
# (2, 8, 2). A file has a view, with the whole storage of its tensor.
base64 -d <<'B' | tar xz
H4sIAAAAAAACA+1Zy4/bRBifJLvpNhWlKheKoIqyyXZbto7H71QUwgoioUBZSpEKFY3cxLs19caJ7WxZViutkGjFAQlx6KGHilMPcCk3bu2/0HsPSL1y58qM
nWRtbz12kn0V5idF43n48/eyf99MbENvaq0y2EuwCLIoui1CuN15DVlZYkFeBPuAnu2oVj4PLNN0SOvi5l9S2F78bUfrsOVDE3+OhTyN/77Hv2OZTVg+BPHn
WV6m8T+g+Ld6qx3mG9ts72b8JUGIij8HZTEUf0FmBZBnafz3HBsFR7VvFS7kC47Wtk2rsJAvGNqaZuChjyHuLlvqqnbbtNxVnXXHtJo38TjOk0ZLddRGS7fw
XEQuNTzJ7lL3PtxeyG8UrmBJjKUZPYZllk3rtmq13Am93ek5DdVasVH3GlJxvaO5Kro3XBkq2gpOLBum6vAcnrFvqu7MNW4hzy/kua/R2Cfqt2iEZ1h8rbfR
9XnO62gq7rGMqPAYkBckEUJFQHOXTGsVzYmMLAiixEmcqCgiC9GMpXV7uqXZjRVLxWovq4at9c1rtJHLsGIvMpFxzUP9jlPYxIp55t663Td4YxONmT0HDe6t
+azfeuh2huaylQoLKyInC7yIvsYT2evZMjAYW+cts3urBxT4PbM8YFJsoAstfdVtB+bobQcbsaYaPdyHm7ubCj5vyD5vBN4CgZHFbXdAloGColSgICgVWZDg
JO4I5cHmJqA4pPzv/2aXd4P/R6v/JF6i9d+hiX8MiU1c/8lsqP7jBFbiaP23H1iqZ6YAmJnZOVMCFwEp8mWcG0znllFbrICvxsVWuulRVqPn6Iada1jajZ5u
tAYJuMblumB+/uoRnKtopbqidVPeLbkaZrnPvcFcN301hXOtm7maQW2z0+tO1fNOd/qz+lQ9Xc/U03e72foJdJm62z3yY7NpGobWdHSzbec+tVqapbU+0JtO
rjtz9nL3qNPNXe4eY5bqR2Yyz67/9ABJfED01hw4TvbWjXVHM/Fzaos5n7sM3XEMDT/nh4vPT2WRpCzxObPgbHxUymxtsZQsJgBsvedJrj5B14/RRb+tVr1x
d77aH3vizQ/6eM79Pd5uq9Vgf7DGvQ/05ff71SfY8j/az9Jb+ElEy4uAIVu+plk2Cmdt8dwI6cjnsAZPH6x8kUbPSBM14MFbZA0Y1/m2ZumqoX+n4uRq6K3a
4qlohVhRlhS8p5B5RaxUJE5WOPwRhHgbwosVriKga6hgLV/b+PDhPNJj3tUyhZUd6unP0tIOzRO9x2GR/oScC4hjUiBhsodl+kM9G5B5LwWSJHZYoD9yxYDA
n9MgUb6EJfq9zAcknsyAceK/VM9mF/oiTmfOD8VNh9rfU177Z2bwac7irx5o9hek3LHprHfPtLt+sHb/+d9XzE/M/5AL8z8nQcr/B8v/c+AdQIy8rwBQwP+d
/8+AV2K85SsAjoKx+b+IvkvxUcEFQBGMxv9hhPk/OLk9N7h/WEdUg33/mgG2+9jyv99vP43n/xI4H2P5sAA4C/aE/wXwZowGUQXA62Ac/ocQfTcVqaKgJVjL
f+5dfDUJ/88l4/8d7zGpADiTrADYme1hof5gF5NVAKHUJpUApWQlQDhlwiL9nhaS1QAxOZC0CHgUUQTcjCgCHk1YBCTn/6ijzcn//5HD5z8cj0sCyv8Hyv9F
8C4gRN7H/hfG3/7/Z/i/BF4lesvH/sf87hqV/wvgXGxUMPvPJYzJy8P/s6BMtHzI/m+Pko6j8D8HThM1iGL/NwgK7QX/FyP4n/wek9i/FMH+MblO4v5CBPeT
0prE/LMRzE9MFhLvcxG8P0rsk7L+wwjWvx7B+g93Y+s/Ef+PsP2P5X9x5/k/hBLl/8Ny/v/iyL8M5/9TLv8DRPrpO4j9EfffGYn7S18WLt1H0u7HnJScJHvK
R/7HQ64a//yfEJWRzv9/rXq/vzBvV7EmH9W2lk6gzomY+vA0WZMhIZP4b7zz94gn7ub5O2QlkeUkVhA5VoEc1vK39cr3Ufzrz5RSIv4dafsd3NKfS4GECReW
6Q/tbCIGHmHzHaw78mmQKD/CEv1eDp6//xIncXfO35UQCT+fij5/VzKAgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCguJg8S9AlnYNAFAAAA==
B
# The elements have the statistics that msprobe wrote of the slice.
msdump stats -q sliced --jsonl | jq -c '[.op_name, .io, .shape, .max, .min, .l2norm]'
jq -c '.data[] | .input_args[], .output[] | [.shape, .Max, .Min, .Norm]' sliced/step0/proc1/dump.json
# An operator that computes with more than the slice is not called wrong: the sum over dimension 1 is that of 8 elements, of which 3 are there.
show msdump check sliced
msdump check -q sliced --rule none --rule wrong_output --json | jq -c '.recompute[], .summary.recompute | .not_judged'
