#!/usr/bin/env bash
# Builds the site, build/docs/html/index.html: the pages of the repository and the reference of the public headers.
# A warning is an error. docs.sh [SPHINX OPTIONS...]
set -eu
cd "$(dirname "$0")/.."
build=build/docs
# A folder of links, since Sphinx takes one folder and wants its first page at the top.
rm -rf $build/source $build/xml
mkdir -p $build/source/reference $build/xml
for name in *; do [ "$name" = build ] || [ "$name" = README.md ] || ln -s "../../../$name" $build/source/; done
ln -s ../../../README.md $build/source/index.md
doxygen docs/site/Doxyfile
sphinx-build -q -W --keep-going -c docs/site "$@" $build/source $build/html
echo "docs: $PWD/$build/html/index.html"
