import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is written for one service: five documents, as a team keeps them in a file. */
function serviceFile(namespace: string, name: string): string {
  const host = `${name}.${namespace}.mesh`;
  return [
    `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${host}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
  - {number: 80, name: http, protocol: HTTP}
  - {number: 9000, name: grpc, protocol: GRPC}
  workloadSelector: {labels: {app: ${name}}}
`,
    `apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: ${name}-1}
spec:
  address: 10.0.0.1
  labels: {app: ${name}, version: v1}
  serviceAccount: ${name}
`,
    `apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: ${name}-2}
spec:
  address: 10.0.0.2
  labels: {app: ${name}, version: v2}
  serviceAccount: ${name}
`,
    `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: ${name}}
spec:
  host: ${host}
  trafficPolicy:
    connectionPool: {http: {http2MaxRequests: 100}}
    outlierDetection: {consecutive5xxErrors: 5, interval: 10s}
  subsets:
  - {name: v1, labels: {version: v1}}
  - {name: v2, labels: {version: v2}}
`,
    `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: ${name}}
spec:
  hosts: [${host}]
  http:
  - match: [{uri: {prefix: /api}, headers: {x-team: {exact: a}}}]
    route:
    - {destination: {host: ${host}, subset: v1, port: {number: 80}}, weight: 90}
    - {destination: {host: ${host}, subset: v2, port: {number: 80}}, weight: 10}
  - retries: {attempts: 3, perTryTimeout: 2s}
    route: [{destination: {host: ${host}, subset: v1, port: {number: 80}}}]
`,
  ].join('---\n');
}

/** A mistake of each sort, which is to be found among all that is right. */
const MISTAKES = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: mistakes}
spec:
  hosts: [mistakes.mesh]
  http:
  - timeot: 5s
    route: [{destination: {host: service-0.team-0.meshh}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: no-subset}
spec:
  hosts: [no-subset.mesh]
  http: [{route: [{destination: {host: service-1.team-0.mesh, subset: v3}}]}]
`;

/**
 * Writes a tree of configuration of many documents, of which all but the last two are right.
 *
 * @param conf a directory such as `etc/istio/conf`; five documents a file, a hundred files a namespace
 */
export function writeLargeTree(conf: string, documents: number): void {
  const services = Math.ceil((documents - 2) / 5);
  for (let i = 0; i < services; i++) {
    const namespace = `team-${Math.floor(i / 100)}`;
    if (i % 100 === 0) mkdirSync(join(conf, namespace), { recursive: true });
    writeFileSync(join(conf, namespace, `service-${i}.yaml`), serviceFile(namespace, `service-${i}`));
  }
  writeFileSync(join(conf, 'team-0', 'zz-mistakes.yaml'), MISTAKES);
}
