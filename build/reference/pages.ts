import { connectionsRoute } from '../../src/admin/connections.ts';
import { debugRoutes } from '../../src/admin/debug.ts';
import { gatewaysRoute } from '../../src/admin/gateways.ts';
import { healthRoutes } from '../../src/admin/health.ts';
import type { Route } from '../../src/admin/http.ts';
import { inspectRoutes } from '../../src/admin/inspect.ts';
import { createMetrics, metricsRoute } from '../../src/admin/metrics.ts';
import { sourcesRoute } from '../../src/admin/sources.ts';
import { statusRoute } from '../../src/admin/status.ts';
import { agentMetrics } from '../../src/agent/metrics.ts';
import { AGENT_PREFIXES, AGENT_VARIABLES, type AgentVariable, UNUSED_VARIABLES } from '../../src/agent/variables.ts';
import { AGENT_COMMANDS, COMMANDS, COMMON_EXITS, type Command } from '../../src/bin/commands.ts';
import { CODE_ADVICE } from '../../src/config/code-advice.ts';
import { CODES, type Code } from '../../src/config/codes.ts';
import type { Field, Message } from '../../src/config/schema/schema.ts';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';
import { IstiodOptionsSchema } from '../../src/istiod/options-schema.ts';
import { istioApiPage } from './istio-api.ts';
import { code, page, table } from './markdown.ts';

/** Pages below docs/reference, by file name. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['../istio-api.md', istioApiPage()],
    ['agent.md', agentPage()],
    ['commands.md', commandsPage()],
    ['environment.md', environmentPage()],
    ['findings.md', findingsPage()],
    ['http.md', httpPage()],
    ['istiod-yaml.md', optionsPage()],
    ['metrics.md', metricsPage()],
  ]);
}

function exitRows(exits: Readonly<Record<number, string>>): string {
  return table(
    ['exit code', ''],
    Object.entries(exits).map(([exit, what]) => [exit, what]),
  );
}

function commandParts(commands: readonly Command[]): readonly string[] {
  return commands.flatMap(({ usage, doc, exits, variables }) => [
    `## ${code(usage)}`,
    `${doc.replace(/^./, (first) => first.toUpperCase())}.`,
    exitRows(exits),
    ...(variables.length === 0
      ? []
      : [`Variables: ${variables.map(code).join(', ')}; see [environment](environment.md).`]),
  ]);
}

function commandsPage(): string {
  return page(
    'Commands',
    'Verbs, no flags: settings are files, and a few variables of the environment.',
    ...commandParts(COMMANDS),
    'The same executable under the name `istio-agent` is the agent of a machine; [its variables](agent.md).',
    ...commandParts(AGENT_COMMANDS),
    '## All commands',
    exitRows(COMMON_EXITS),
  );
}

function agentPage(): string {
  const rows = (variables: Readonly<Record<string, AgentVariable>>, end = '') =>
    Object.entries(variables).map(([name, { doc, default: value }]) => [code(`${name}${end}`), code(value), doc]);
  return page(
    'Variables of istio-agent',
    'They stand in `var/lib/istio/envoy/sidecar.env`, which people write, in `var/lib/istio/envoy/cluster.env`, which is generated, or in the environment. The environment counts first, then `sidecar.env`; last come `proxyMetadata` and `discoveryAddress` of PROXY_CONFIG and of `defaultConfig` in `etc/istio/mesh.yaml`. Files are written as for a shell, but nothing in them is executed or expanded. A value that can not be taken, or a name in a file that nobody knows, is an error with its line, and the agent does not start.',
    table(['variable', 'default', ''], [...rows(AGENT_VARIABLES), ...rows(AGENT_PREFIXES, '…')]),
    '## Without effect',
    "Istio's agent and its scripts know these, too. In a file they are a warning.",
    [...UNUSED_VARIABLES].map(code).join(', '),
    '## HTTP',
    'On `statusPort` of PROXY_CONFIG, 15020 unless it is set.',
    table(
      ['path', ''],
      [
        [
          code('/healthz/ready'),
          '200 when the workload can take requests, else 503 with the reason. Envoy passes it on at port 15021.',
        ],
        [code('/stats/prometheus'), 'Metrics of Envoy and, below, of the agent.'],
        [code('POST /quitquitquit'), 'Ends the agent as SIGTERM does; for programs of this machine.'],
      ],
    ),
    table(['metric', ''], agentMetricRows()),
  );
}

function agentMetricRows(): readonly (readonly string[])[] {
  const certificate = { chain: '', key: '', roots: '', from: 0, until: 0 };
  const text = agentMetrics({ certificate, restarts: 0, names: 0, isLive: true });
  return [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [code(name), help]);
}

function variableRows(part: ReadonlyMap<string, Variable>): string {
  return table(
    ['variable', 'default', ''],
    [...part].map(([name, variable]) => [code(name), code(variable.default), variable.doc]),
  );
}

function environmentPage(): string {
  return page(
    'Environment',
    '`env` in mesh.yaml is laid over the environment, and wins; where both say something different, the log names the variable. It is read at the start. True is `1`, `t` or `true`, false is `0`, `f` or `false`; what is not understood has the default.',
    '## What proxies are sent',
    "Istio's own variables, with Istio's defaults. Others of Istio's have no effect.",
    variableRows(VARIABLES.translation),
    '## The server',
    variableRows(VARIABLES.server),
    '## Commands and the service manager',
    'These count in the environment only, not in mesh.yaml.',
    variableRows(VARIABLES.commands),
  );
}

function findingsPage(): string {
  return page(
    'Findings',
    "What istiod finds in configuration has a code: Istio's (`IST…`) where istioctl finds the same, ours (`VM…`) else. A finding stands at `file:line:column` in the log, in `istiod check`, and under `/debug/diagnosticsz`.",
    table(
      ['code', 'what it means', 'what to do'],
      Object.entries(CODES).map(([name, meaning]) => [code(name), meaning, CODE_ADVICE[name as Code]]),
    ),
  );
}

function routeRows(routes: readonly Route[]): string {
  return table(
    ['path', ''],
    routes.map(({ path, doc }) => [code(path), doc]),
  );
}

/** Nothing of a route is read but its path and what it says of itself. */
const UNREAD = {} as never;

function httpPage(): string {
  const health = healthRoutes('', () => 'ready');
  const debug = [
    ...debugRoutes(UNREAD),
    ...inspectRoutes(UNREAD),
    connectionsRoute(UNREAD),
    statusRoute(UNREAD),
    gatewaysRoute(UNREAD),
    sourcesRoute(UNREAD, UNREAD),
  ];
  return page(
    'HTTP',
    'GET and HEAD, on `listen.http` and `listen.monitoring`; `/` lists what there is. Nobody is asked who they are: keep both on loopback. Requests by a name that is not `localhost` are refused under `/debug`, so that no web page reads them by way of a browser.',
    '## On both',
    routeRows([...health, ...debug]),
    '## On `listen.monitoring` only',
    routeRows([metricsRoute(UNREAD)]),
  );
}

interface Option {
  readonly path: string;
  readonly field: Field;
}

function* optionsOf({ fields }: Message, below = ''): Generator<Option> {
  for (const [name, field] of Object.entries(fields)) {
    const path = below === '' ? name : `${below}.${name}`;
    if (field.type.kind === 'message') yield* optionsOf(field.type, path);
    else yield { path, field };
  }
}

function typeText({ type, shape }: Field): string {
  const single = type.kind === 'enum' ? Object.keys(type.values).map(code).join(', ') : TYPES[type.kind];
  return shape === 'list' ? `list of ${single}` : String(single);
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  bool: '`true`, `false`',
  duration: 'duration, as `250ms`',
};

function optionsPage(): string {
  return page(
    'istiod.yaml',
    "`etc/istio/istiod.yaml`: the server's own options, all optional. It is read at the start; SIGHUP takes `log.level` from it again. An option that does not exist, and a value that can not be taken, keep the server from starting, with `file:line:column` and what to write.",
    table(
      ['option', 'values', 'default', ''],
      [...optionsOf(IstiodOptionsSchema)].map(({ path, field }) => [
        code(path),
        typeText(field),
        field.default === undefined ? '' : code(JSON.stringify(field.default)),
        field.doc,
      ]),
    ),
  );
}

interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly constructor: { readonly name: string };
}

/** Of Node, with names that say so. */
const OF_THE_PROCESS = /^(?:process|nodejs)_/;

function metricsPage(): string {
  const { registry } = createMetrics('', UNREAD);
  const metrics = (registry.getMetricsAsArray() as unknown as readonly MetricDescription[])
    .filter(({ name }) => !OF_THE_PROCESS.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return page(
    'Metrics',
    "`/metrics` on `listen.monitoring`, for Prometheus. `pilot_…`, `istio_…` and `istiod_uptime_seconds` are Istio's names and mean the same, so that its dashboards work; `istiod_vm_…` are ours. `process_…` and `nodejs_…` are of the process, as every program in Node has them.",
    table(
      ['metric', 'kind', 'labels', ''],
      metrics.map(({ name, help, labelNames = [], constructor }) => [
        code(name),
        constructor.name.toLowerCase(),
        labelNames.map(code).join(', '),
        help,
      ]),
    ),
  );
}
