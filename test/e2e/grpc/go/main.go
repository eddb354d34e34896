// Command greeter is a client or a server of gRPC that xDS configures, by google.golang.org/grpc.
//
//	greeter client TARGET            reads a line of JSON {"calls": 3, "headers": {"x": "1"}} and writes one with the replies
//	greeter server NAME ADDRESS      answers each call with its name; writes a line of JSON for each change of its state
//
// What a call fails with is a reply, too: "!PermissionDenied".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
)

const (
	service  = "test.Greeter"
	method   = "Name"
	patience = 20 * time.Second
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "client":
		err = client(args[1])
	case len(args) == 3 && args[0] == "server":
		err = server(args[1], args[2])
	default:
		err = fmt.Errorf("usage: greeter client TARGET | greeter server NAME ADDRESS")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// raw passes messages on as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (raw) Name() string { return "proto" }

type order struct {
	Calls   int               `json:"calls"`
	Headers map[string]string `json:"headers"`
}

func client(target string) error {
	creds, err := xdscreds.NewClientCredentials(xdscreds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	if err != nil {
		return err
	}
	defer conn.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var wanted order
		if err := json.Unmarshal(lines.Bytes(), &wanted); err != nil {
			return err
		}
		replies := make([]string, 0, wanted.Calls)
		for range wanted.Calls {
			replies = append(replies, call(conn, wanted.Headers))
		}
		if err := write(map[string]any{"replies": replies}); err != nil {
			return err
		}
	}
	return lines.Err()
}

func call(conn *grpc.ClientConn, headers map[string]string) string {
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), metadata.New(headers)), patience)
	defer cancel()
	request, reply := []byte{}, []byte{}
	if err := conn.Invoke(ctx, "/"+service+"/"+method, &request, &reply); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return "!" + status.Code(err).String()
	}
	return string(reply)
}

func server(name, address string) error {
	creds, err := xdscreds.NewServerCredentials(xdscreds.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	changed := xds.ServingModeCallback(func(_ net.Addr, change xds.ServingModeChangeArgs) {
		if change.Err != nil {
			fmt.Fprintln(os.Stderr, change.Err)
		}
		_ = write(map[string]any{"serving": change.Mode == connectivity.ServingModeServing})
	})
	grpcServer, err := xds.NewGRPCServer(grpc.Creds(creds), grpc.ForceServerCodec(raw{}), changed)
	if err != nil {
		return err
	}
	answer := func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		request := []byte{}
		if err := decode(&request); err != nil {
			return nil, err
		}
		reply := []byte(name)
		handle := func(context.Context, any) (any, error) { return &reply, nil }
		if intercept == nil {
			return handle(ctx, &request)
		}
		return intercept(ctx, &request, &grpc.UnaryServerInfo{FullMethod: "/" + service + "/" + method}, handle)
	}
	grpcServer.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: method, Handler: answer}},
	}, struct{}{})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return grpcServer.Serve(listener)
}

func write(value any) error { return json.NewEncoder(os.Stdout).Encode(value) }
