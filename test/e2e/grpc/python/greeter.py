"""A client or a server of gRPC that xDS configures, by grpcio.

greeter.py client TARGET            reads a line of JSON {"calls": 3, "headers": {"x": "1"}} and writes one with the replies
greeter.py server NAME ADDRESS      answers each call with its name; writes a line of JSON when it serves

What a call fails with is a reply, too: "!PermissionDenied".
"""

import concurrent.futures
import json
import sys

import grpc
from grpc.experimental import insecure_channel_credentials

SERVICE = "test.Greeter"
METHOD = "Name"
PATIENCE_SECONDS = 20


def same(message):
    return message


def write(value):
    print(json.dumps(value), flush=True)


def failure(error):
    print(error, file=sys.stderr)
    return "!" + "".join(word.capitalize() for word in error.code().name.split("_"))


def client(target):
    credentials = grpc.xds_channel_credentials(insecure_channel_credentials())
    channel = grpc.secure_channel(target, credentials)
    name = channel.unary_unary(f"/{SERVICE}/{METHOD}", request_serializer=same, response_deserializer=same)

    def call(headers):
        try:
            reply = name(b"", metadata=tuple(headers.items()), timeout=PATIENCE_SECONDS)
        except grpc.RpcError as error:
            return failure(error)
        return reply.decode()

    for line in sys.stdin:
        wanted = json.loads(line)
        write({"replies": [call(wanted.get("headers", {})) for _ in range(wanted["calls"])]})


def server(name, address):
    handler = grpc.unary_unary_rpc_method_handler(
        lambda request, context: name.encode(), request_deserializer=same, response_serializer=same
    )
    greeter = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4), xds=True)
    greeter.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler}),))
    greeter.add_secure_port(address, grpc.xds_server_credentials(grpc.insecure_server_credentials()))
    greeter.start()
    write({"serving": True})
    greeter.wait_for_termination()


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
