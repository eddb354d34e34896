"""Asks an istiod for a certificate over gRPC: certificate-client.py ADDRESS ROOTS REQUEST [token FILE | client CHAIN KEY]

All but the address are files in PEM, or with a token. Prints a line of JSON: {"chain": […]}, or {"code": …, "details": …}.
"""

import json
import sys

import grpc

METHOD = "/istio.v1.auth.IstioCertificateService/CreateCertificate"


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def request(csr, seconds):
    text = csr.encode()
    return b"\x0a" + varint(len(text)) + text + b"\x18" + varint(seconds)


def response(message):
    chain, at = [], 0
    while at < len(message):
        assert message[at] == 0x0A, "a field that no IstioCertificateResponse has"
        at, length, shift = at + 1, 0, 0
        while True:
            byte = message[at]
            length |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        chain.append(message[at : at + length].decode())
        at += length
    return chain


def read(path):
    with open(path, "rb") as file:
        return file.read()


address, roots, csr, *proof = sys.argv[1:]
metadata, pair = [], (None, None)
if proof and proof[0] == "token":
    metadata = [("authorization", "Bearer " + read(proof[1]).decode().strip())]
elif proof:
    pair = (read(proof[2]), read(proof[1]))
channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(read(roots), *pair))
call = channel.unary_unary(METHOD, request_serializer=lambda m: m, response_deserializer=response)
try:
    print(json.dumps({"chain": call(request(read(csr).decode(), 3600), metadata=metadata, timeout=10)}))
except grpc.RpcError as error:
    print(json.dumps({"code": error.code().name, "details": error.details()}))
