// Command lane is the interleave lane. See package interleave.
package main

import (
	"os"

	"eventide/props/lanes/interleave"
)

func main() { os.Exit(interleave.Main(os.Args[1:], os.Stdout, os.Stderr)) }
