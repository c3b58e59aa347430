module example.com/server

go 1.25.0
