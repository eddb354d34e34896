import assert from 'node:assert/strict';
import { chownSync, cpSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { Child } from '../support/child.ts';
import { envoyPath } from '../support/envoy-process.ts';
import { Network } from '../support/network.ts';
import type { Probe, ProbeAnswer } from '../support/probe.ts';
import { Resident } from '../support/resident.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { withoutNamespaces } from './conditions.ts';

/** Somebody without any rights. */
const NOBODY = 65534;
/** What a clone does not have, or what is better shared than copied. */
const LEFT_OUT = new Set(['.cache', '.git', 'dist', 'generated', 'node_modules', 'var']);

/** A copy of this repository as it is after `npm ci`, which belongs to nobody. */
function clone(): WorkDir {
  const copy = new WorkDir('clone');
  for (const name of readdirSync('.')) {
    if (!LEFT_OUT.has(name)) cpSync(name, copy.at(name), { recursive: true });
  }
  for (const name of ['', ...readdirSync(copy.path, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(copy.path, name), NOBODY, NOBODY);
  }
  symlinkSync(resolve('node_modules'), copy.at('node_modules'));
  const envoy = copy.at(relative(resolve('.'), envoyPath()));
  mkdirSync(dirname(envoy), { recursive: true });
  linkOrCopy(envoyPath(), envoy);
  writeFileSync(copy.at('.cache/envoy-1.40.0/ready'), '');
  return copy;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    cpSync(from, to);
  }
}

const skip = withoutNamespaces();

// In a namespace, as the sample has the ports of the README.
test("the README's commands lead an ordinary user to a 200", { skip, timeout: 120_000 }, async () => {
  using copy = clone();
  using network = new Network();
  await using curl = new Resident(network.world);
  const asNobody = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
  const command = (...words: readonly string[]): Child => {
    // Envoy opens its standard output by name, as the sample's access log wants it.
    const outputFile = copy.at(`${basename(words[0] ?? '')}.log`);
    writeFileSync(outputFile, '');
    chownSync(outputFile, NOBODY, NOBODY);
    const options = { cwd: copy.path, env: { HOME: copy.path }, outputFile };
    return new Child([...network.world.prefix, ...asNobody, ...words], options);
  };
  const answer = async (child: Child, probe: Probe): Promise<ProbeAnswer> => {
    const look = (): Promise<ProbeAnswer> | 'ended' => (child.exit === undefined ? curl.probe(probe) : 'ended');
    const found = await waitFor<ProbeAnswer | 'ended'>(look, { what: 'answer', withinMs: 50_000, everyMs: 50 });
    child.assertRunning();
    return found as ProbeAnswer;
  };
  const running: Child[] = [];
  const start = (...words: readonly string[]): Child => {
    const child = command(...words);
    running.push(child);
    return child;
  };
  try {
    await answer(start('npm', 'start'), { to: '127.0.0.1:8080', path: '/ready' });
    const envoy = start('scripts/envoy', '-c', 'etc/envoy/sidecar.yaml', '--concurrency', '1');
    const hello = { to: '127.0.0.1:9080', host: 'web.shop.internal', path: '/hello' };
    const { status, body } = await answer(envoy, hello);
    assert.deepEqual([status, body], [200, 'hello from the mesh\n']);
  } catch (error) {
    throw new Error([(error as Error).message, ...running.map(({ output }) => output.slice(-2_000))].join('\n'));
  } finally {
    await Promise.all(running.map((child) => child.stop()));
  }
});
