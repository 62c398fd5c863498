module eventide

go 1.26.0
