// Package poll is the vocabulary that pollers and the executor share: what to wait for,
// what was found, and the clock that deadlines are on. Package core aliases what its users
// need.
package poll
