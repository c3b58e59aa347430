// Programs that use a MariaDB or a Redis server, or gRPC, apart from the main module so that it depends on none of their client libraries.
module github.com/ftrace-wrap/ftrace-wrap/examples/protocol

go 1.25.0

require (
	github.com/ftrace-wrap/ftrace-wrap v0.0.0-00010101000000-000000000000
	github.com/go-sql-driver/mysql v1.10.1
	github.com/redis/go-redis/v9 v9.18.0
	google.golang.org/grpc v1.84.0
	google.golang.org/protobuf v1.36.11
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
)

replace github.com/ftrace-wrap/ftrace-wrap => ../..
