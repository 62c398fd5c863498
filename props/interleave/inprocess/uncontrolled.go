//go:build !interleave

package inprocess

const controlled = false

func strategyNumber(string) int     { return -1 }
func forget(int)                    {}
func nextOfDFS() bool               { return false }
func boundOfDFS() (int, bool, bool) { return 0, false, false }
func begin(*request)                { refuse(controlled) }
func end(*result)                   {}
func learn(bool)                    {}
func number(uint64) int             { return 0 }
func clearPools()                   {}
func traced(*lists)                 {}

// refuse panics, since there is no engine.
func refuse(controlled bool) {
	if !controlled {
		panic("inprocess: Run in a binary that was built without the overlay")
	}
}
