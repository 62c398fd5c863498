// Package servers puts servers of others under eventide's kit for servers that shut down,
// beside those of props/draintest/subjects: gRPC with each of its two ends, and gnet.
//
// A server of gRPC or gnet has its readiness probe on a port of its own, and ends under a
// process.Plan whose step calls what the library offers for the end.
package servers
