module eventide/core/examples/cron

go 1.26.0

replace eventide => ../../..

require (
	eventide v0.0.0
	github.com/robfig/cron/v3 v3.0.1
)

require (
	github.com/petermattis/goid v0.0.0-20260820044319-269ab09b5261 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
