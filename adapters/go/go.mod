module cpubind

go 1.18
