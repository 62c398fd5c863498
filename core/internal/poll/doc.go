// Package poll has the types that pollers and the executor share: interest, readiness,
// events, and the clock of deadlines. Package core has aliases for those that its users
// need.
package poll
