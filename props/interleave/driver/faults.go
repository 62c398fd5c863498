package driver

import (
	"fmt"
	"slices"
	"strings"

	"eventide/props/interleave/protocol"
)

// checkFaults returns an error for a fault that does not exist. The fault "all" becomes
// all of them.
func (o *Options) checkFaults() error {
	if slices.Contains(o.Faults, "all") {
		o.Faults = protocol.Faults()
	}
	for _, name := range o.Faults {
		if !slices.Contains(protocol.Faults(), name) {
			return inputError("-faults %s: want all, or some of %v", name, protocol.Faults())
		}
	}
	if len(o.Faults) > 0 && o.Exhaust >= 0 {
		return inputError("-exhaust and -faults exclude each other")
	}
	return nil
}

// faultsOf names the faults among the switches of a finding, with their goroutines.
func faultsOf(list []protocol.Switch) string {
	var texts []string
	for _, s := range list {
		if s.Kind != protocol.ToFault {
			continue
		}
		for i, name := range protocol.Faults() {
			if s.To == 1<<i {
				texts = append(texts, fmt.Sprintf("%s (g%d)", name, s.G))
			}
		}
	}
	return strings.Join(texts, ", ")
}
