#!/bin/sh
# Compiles the drivers into the directory given as the argument. What cannot be built
# is said, and left out: `make peers` prints it as not run.
#
#	sh drivers/build.sh ../../out/peers
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?want the directory to build into}
mkdir -p "$out/classes"
out=$(cd "$out" && pwd) # the class path is read from other directories than this
missed=0

try() { # name, command...
	name=$1
	shift
	if "$@"; then
		echo "built      $name"
	else
		echo "NOT BUILT  $name: the command above failed"
		missed=1
	fi
}

jars=${NETTY_JARS:-/usr/share/java}
path=$out/classes
for jar in netty-common netty-buffer netty-resolver netty-transport jctools-core; do
	path=$path:$jars/$jar.jar
done
rm -f "$out/netty.classpath" "$out/uv" "$out/asio"
try netty javac -Xlint:-deprecation -XDignore.symbol.file -d "$out/classes" -cp "$path" "$here/NettyPeer.java" && [ $missed = 0 ] && echo "$path" >"$out/netty.classpath"
try libuv gcc -std=c11 -D_GNU_SOURCE -O2 -o "$out/uv" "$here/uv.c" -luv -lpthread
try asio g++ -std=c++17 -O2 -o "$out/asio" "$here/asio.cc" -lpthread
exit 0
