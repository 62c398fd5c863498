package peers

// coreEcho is nil as long as core has no TCP channels: then the rows of core-loop
// say so.
var coreEcho func() (echoServer, error)

const noCoreEcho = "core has no TCP channels in this tree"
