import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { Envoy } from '../../../../src/agent/envoy/envoy.ts';
import { envoyArguments, envoySettings } from '../../../../src/agent/envoy/envoy-settings.ts';
import { endLeftover, rememberEnvoy } from '../../../../src/agent/envoy/leftover.ts';
import { freePorts } from '../../../support/free-port.ts';
import { waitFor } from '../../../support/wait.ts';
import { WorkDir } from '../../../support/work-dir.ts';

function program(dir: WorkDir, name: string, text: string): string {
  dir.write(name, `#!/bin/sh\n${text}\n`);
  chmodSync(dir.at(name), 0o755);
  return dir.at(name);
}

test('an Envoy that ends is started again, each time later, and one that is stopped is not', async () => {
  using dir = new WorkDir('envoy');
  const [adminPort = 0] = await freePorts(1);
  const log: string[] = [];
  const take = (message: string) => void log.push(message);
  const envoy = new Envoy({
    path: program(dir, 'envoy', 'echo x >> runs; [ $(wc -l < runs) -lt 3 ] && exit 7; exec sleep 60'),
    args: [],
    root: dir.path,
    output: 'inherit',
    adminPort,
    drainsInboundOnly: true,
    drainMs: 1000,
    leastDrainMs: undefined,
    onStart: () => undefined,
    log: { info: take, warn: take },
  });
  envoy.start();
  await waitFor(() => log.filter((line) => line.startsWith('Envoy is started as')).length === 3, {
    what: 'third start',
  });
  assert.deepEqual(
    log.filter((line) => line.startsWith('Envoy ended')),
    [
      'Envoy ended (exit code 7) and is started again in 200 ms',
      'Envoy ended (exit code 7) and is started again in 400 ms',
    ],
  );
  assert.equal(envoy.restarts, 2);
  await envoy.stop();
  assert.match(log.at(-1) ?? '', /does not drain its connections/);
  assert.equal(dir.read('runs'), 'x\nx\nx\n');
});

test('an Envoy of an agent that was killed is ended, and no other process of its number', async () => {
  using dir = new WorkDir('envoy');
  const path = program(dir, 'envoy', 'while :; do sleep 0.05; done');
  const child = spawn(path, ['-c', './etc/envoy.json'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const file = dir.at('run/envoy.pid');
  assert.equal(await endLeftover(file, './etc/envoy.json'), undefined);
  rememberEnvoy(file, child.pid);
  await waitFor(async () => (await endLeftover(file, './etc/other.json')) === undefined, { what: 'no end' });
  const exited = once(child, 'exit');
  await waitFor(async () => (await endLeftover(file, './etc/envoy.json')) === child.pid, { what: 'end' });
  await exited;
  assert.equal(await endLeftover(file, './etc/envoy.json'), undefined);
  rememberEnvoy(file, undefined);
});

test('settings of Envoy come from variables and PROXY_CONFIG, and one that is not there is an error that says what to do', () => {
  using dir = new WorkDir('envoy');
  const path = program(dir, 'envoy', 'exit 0');
  assert.equal(envoySettings(dir.path, { DISABLE_ENVOY: 'true' }, {}), undefined);
  assert.throws(
    () => envoySettings(dir.path, { ENVOY_PATH: 'none' }, {}),
    /there is no Envoy at .*none: install it, write its path into ENVOY_PATH, or DISABLE_ENVOY=true/,
  );
  const settings = envoySettings(
    dir.path,
    { ENVOY_STATUS_PORT: '0', EXIT_ON_ZERO_ACTIVE_CONNECTIONS: 'true', MINIMUM_DRAIN_DURATION: '2s' },
    {
      binaryPath: path,
      concurrency: 3,
      drainDuration: '7s',
      terminationDrainDuration: '9s',
      statusPort: 5,
      proxyAdminPort: 6,
    },
  );
  assert.ok(settings);
  assert.deepEqual(settings.ports, { admin: 6, agent: 5, ready: 0, metrics: 15_090 });
  assert.deepEqual([settings.path, settings.terminationDrainMs, settings.leastDrainMs], [path, 9000, 2000]);
  const args = envoyArguments(settings, 'x.json').join(' ');
  assert.match(args, /^-c x.json .*--drain-time-s 7 .*--concurrency 3$/);
});
