import { freePorts } from '../support/free-port.ts';
import { LocalEcho, LocalMesh, type LocalMeshOptions } from './local-mesh.ts';

/** Where the workload behind a guarded sidecar is called. */
export interface GuardedPorts {
  readonly http: number;
  readonly tcp: number;
}

/** The sidecar's own listeners: what comes to them is for the workload, so that policies hold for it. */
const sidecar = (ports: GuardedPorts, workload: number): string => `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: guarded}
spec:
  workloadSelector: {labels: {app: client}}
  ingress:
  - {port: {number: ${ports.http}, name: http, protocol: HTTP}, bind: 127.0.0.1, defaultEndpoint: 127.0.0.1:${workload}}
  - {port: {number: ${ports.tcp}, name: tcp, protocol: TCP}, bind: 127.0.0.1, defaultEndpoint: 127.0.0.1:${workload}}
`;

/** A workload on this machine, called over HTTP and TCP through an upstream Envoy as its sidecar. */
export class GuardedWorkload {
  readonly mesh: LocalMesh;
  readonly ports: GuardedPorts;
  readonly #echo: LocalEcho;

  private constructor(mesh: LocalMesh, ports: GuardedPorts, echo: LocalEcho) {
    this.mesh = mesh;
    this.ports = ports;
    this.#echo = echo;
  }

  /** @param options files beside those of the sidecar; a function when they name its ports */
  static async start(
    options: Omit<LocalMeshOptions, 'files'> & {
      readonly files: (ports: GuardedPorts) => LocalMeshOptions['files'];
    },
  ): Promise<GuardedWorkload> {
    using stack = new DisposableStack();
    const echo = stack.use(await LocalEcho.start({ name: 'workload' }));
    const [http = 0, tcp = 0] = await freePorts(2);
    const ports = { http, tcp };
    const files = { 'shop/sidecar.yaml': sidecar(ports, echo.port), ...options.files(ports) };
    const mesh = await LocalMesh.start({ ip: '192.0.2.1', ...options, files });
    stack.move();
    return new GuardedWorkload(mesh, ports, echo);
  }

  get http(): string {
    return `127.0.0.1:${this.ports.http}`;
  }

  get tcp(): string {
    return `127.0.0.1:${this.ports.tcp}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mesh[Symbol.asyncDispose]();
    this.#echo[Symbol.dispose]();
  }
}
