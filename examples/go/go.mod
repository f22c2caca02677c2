module example/reach

go 1.19
