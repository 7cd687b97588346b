# The dumps that the pages name in their console blocks.
# shellcheck shell=bash

# dumps_of PAGE: in the current folder, beside testdata.
dumps_of() {
  case $1 in
    guide | guide_CN)
      recorded msprobe trees/pt-mlp-tensor-scale bad
      recorded msprobe trees/pt-mlp-tensor good
      rm -r good/step1  # the other side has none
      recorded msprobe trees/pt-mlp-stats-scale bad-stats
      recorded msprobe trees/pt-mlp-stats good-stats
      recorded msprobe trees/pt-block-tensor-nan nan
      checkpoint ./step_100.safetensors embed.weight 2,2 '1 2 3 4' mlp.up.weight 2,2 '0.5 -0.25 0.125 1' mlp.up.bias 2 '0 1'
      checkpoint ./step_200.safetensors embed.weight 2,2 '1 2 3 4' mlp.up.weight 2,2 '0.5 -0.25 1.125 1' mlp.up.bias 2 '0 1'
      ;;
    ci)
      recorded msprobe trees/pt-mlp-tensor-scale candidate
      recorded msprobe trees/pt-mlp-tensor reference
      ;;
  esac
}

# recorded ARCHIVE PATH NAME: a folder of an archive of testdata/recorded, as NAME.
recorded() {
  mkdir -p ../recorded
  [[ -e ../recorded/$1 ]] || (cd ../recorded && cmake -E tar xf "$TESTDATA/recorded/$1.tar.zst")
  cp -r "../recorded/$1/$2" "$3"
}
