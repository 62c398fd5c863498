// Command mutants stands in for the real one in the gate's own test.
package main

func main() {}
