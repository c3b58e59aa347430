package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"

	_ "github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A stock knows how many there are of each item.
type stock interface {
	count(ctx context.Context, item string) (n int64, err error)
	list(ctx context.Context, each func(item string) error) error
}

// stockService is what protoc would make of
//
//	service Stock {
//		rpc Count(google.protobuf.StringValue) returns (google.protobuf.Int64Value);
//		rpc List(google.protobuf.Empty) returns (stream google.protobuf.StringValue);
//	}
var stockService = grpc.ServiceDesc{
	ServiceName: "shop.Stock",
	HandlerType: (*stock)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Count", Handler: func(s any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var item wrapperspb.StringValue
		if err := decode(&item); err != nil {
			return nil, err
		}
		n, err := s.(stock).count(ctx, item.Value)
		return wrapperspb.Int64(n), err
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "List", ServerStreams: true, Handler: func(s any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
		return s.(stock).list(stream.Context(), func(item string) error { return stream.SendMsg(wrapperspb.String(item)) })
	}}},
}

func serveStock(listener net.Listener, dsn string) error {
	server := grpc.NewServer()
	var s stock = memory{"bread": 5, "cheese": 6}
	if dsn != "" {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		s = database{db}
	}
	server.RegisterService(&stockService, s)
	return server.Serve(listener)
}

// A memory is a stock without a database.
type memory map[string]int64

func (m memory) count(_ context.Context, item string) (int64, error) {
	n, ok := m[item]
	if !ok {
		return 0, status.Errorf(codes.NotFound, "there is no %s", item)
	}
	return n, nil
}

func (m memory) list(_ context.Context, each func(string) error) error {
	for item := range m {
		if err := each(item); err != nil {
			return err
		}
	}
	return nil
}

// A database has a table items.
type database struct{ *sql.DB }

func (db database) count(ctx context.Context, item string) (n int64, err error) {
	switch err := db.QueryRowContext(ctx, "SELECT n FROM items WHERE name = ?", item).Scan(&n); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, status.Errorf(codes.NotFound, "there is no %s", item)
	case err != nil:
		return 0, status.Error(codes.Unavailable, err.Error())
	}
	return n, nil
}

func (db database) list(ctx context.Context, each func(string) error) error {
	rows, err := db.QueryContext(ctx, "SELECT name FROM items ORDER BY name")
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	defer rows.Close()
	for rows.Next() {
		var item string
		if err := errors.Join(rows.Scan(&item), each(item)); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A stockClient asks a stock in another process.
type stockClient struct{ *grpc.ClientConn }

func (c *stockClient) count(ctx context.Context, item string) (int64, error) {
	var n wrapperspb.Int64Value
	err := c.Invoke(ctx, "/shop.Stock/Count", wrapperspb.String(item), &n)
	return n.Value, err
}

func (c *stockClient) list(ctx context.Context, each func(item string)) error {
	stream, err := c.NewStream(ctx, &stockService.Streams[0], "/shop.Stock/List")
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(&emptypb.Empty{}), stream.CloseSend()); err != nil {
		return err
	}
	for {
		var item wrapperspb.StringValue
		switch err := stream.RecvMsg(&item); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		each(item.Value)
	}
}
