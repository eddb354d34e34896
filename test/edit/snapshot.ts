import { createHash } from 'node:crypto';
import { proxyOfNode } from '../../src/model/node.ts';
import { type FileMesh, fileMesh, type MeshFiles } from '../support/mesh-files.ts';

/** Clients that differ in what they know and in what they can. */
const NODES = [
  { id: 'sidecar~10.9.0.1~client.shop~shop.svc.cluster.local', extensions: ['istio.alpn'] },
  { id: 'sidecar~10.20.2.1~web.shop~shop.svc.cluster.local', extensions: [], labels: { app: 'web' } },
  { id: 'sidecar~10.9.0.3~edge.edge~edge.svc.cluster.local', extensions: [], metadata: { INTERCEPTION_MODE: 'NONE' } },
];

export function connectAll({ graph, pipeline }: FileMesh): void {
  graph.batch(() => {
    for (const { id, extensions, labels = {}, metadata = {} } of NODES) {
      const [, ip = '', name = ''] = id.split('~');
      const said = { NAMESPACE: name.split('.')[1] ?? '', INSTANCE_IPS: ip, LABELS: labels, SDS: 'true', ...metadata };
      const proxy = proxyOfNode({ id, extensions, metadata: said });
      if ('refused' in proxy) throw new Error(proxy.refused);
      pipeline.mesh.proxies.set(name, proxy);
    }
  });
}

/** Every resource of every client: `client type name version hash-of-bytes`, in the order in which it is sent. */
export function resourcesOf({ pipeline }: FileMesh): readonly string[] {
  return NODES.flatMap(({ id }) => {
    const name = id.split('~')[2] ?? '';
    const scope = pipeline.mesh.scopeOf.get(name);
    if (scope === undefined) throw new Error(`${name} is not connected`);
    return [...pipeline.resources].flatMap(([typeUrl, collection]) =>
      [...collection.get(scope).entries()].map(([, { name: resource, version, bytes }]) =>
        [name, typeUrl.split('.').at(-1), resource, version, createHash('sha256').update(bytes).digest('hex')].join(
          ' ',
        ),
      ),
    );
  });
}

/** What clients of these files are sent. */
export function snapshot(files: MeshFiles): readonly string[] {
  const mesh = fileMesh(files);
  connectAll(mesh);
  return resourcesOf(mesh);
}
