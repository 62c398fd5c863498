module example.com/gated

go 1.26.0
