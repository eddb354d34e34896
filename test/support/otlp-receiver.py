"""Takes logs and traces of OpenTelemetry over gRPC and HTTP, on free ports of loopback.

It prints its ports as a line of JSON, then each request as one: {"logs": …} or {"traces": …}, in proto JSON.
"""

import json
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

printing = threading.Lock()


def tell(record):
    with printing:
        print(json.dumps(record), flush=True)


class Logs(logs_service_pb2_grpc.LogsServiceServicer):
    def Export(self, request, context):
        tell({"logs": MessageToDict(request)})
        return logs_service_pb2.ExportLogsServiceResponse()


class Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def Export(self, request, context):
        tell({"traces": MessageToDict(request)})
        return trace_service_pb2.ExportTraceServiceResponse()


class TracesOverHttp(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def chunks(self):
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def body(self):
        length = self.headers["content-length"]
        return b"".join(self.chunks()) if length is None else self.rfile.read(int(length))

    def do_POST(self):
        request = trace_service_pb2.ExportTraceServiceRequest.FromString(self.body())
        tell({"traces": MessageToDict(request), "path": self.path, "headers": dict(self.headers)})
        answer = trace_service_pb2.ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
logs_service_pb2_grpc.add_LogsServiceServicer_to_server(Logs(), server)
trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)
grpc_port = server.add_insecure_port("127.0.0.1:0")
server.start()
over_http = ThreadingTCPServer(("127.0.0.1", 0), TracesOverHttp)
tell({"grpc": grpc_port, "http": over_http.server_address[1]})
over_http.serve_forever()
