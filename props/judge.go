package props

import (
	"slices"

	"eventide/props/history"
)

// rulesOf says what the history of a program shows, and how core was configured.
func rulesOf(p Program) history.Rules {
	if slices.Contains(p.Starts, StartSlow) {
		// Then time passes that nothing accounts for.
		return history.Rules{
			Parts: history.All, AtRest: true, Slack: 10 * slowStart,
			QueueBound: p.Limit, Timers: p.Timers, Spawner: true,
		}
	}
	return history.Rules{
		Parts: history.All, Virtual: true, AtRest: true,
		QueueBound: p.Limit, Timers: p.Timers, Spawner: len(p.Starts) > 0,
	}
}
