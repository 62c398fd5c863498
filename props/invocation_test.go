package props

import (
	"testing"

	"pgregory.net/rapid"
)

// InvocationProperty is a property of G9: InvokeAll and InvokeAny return at the instant and with
// the result that their functions decide, and each function runs unless it was refused or cancelled.
func InvocationProperty(observe func(Verdict)) func(*rapid.T) {
	return untracedProperty("G9", Invocations(), MinimiseInvocation, func(p Invocation) Case { return Case{Invocation: &p} }, observe)
}

func TestPropG9Invocations(t *testing.T) { rapid.Check(t, InvocationProperty(nil)) }
