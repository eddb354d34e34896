import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serviceManager } from '../../../src/process/systemd.ts';

/** A file in the place of systemd's socket: what was written to it is what systemd would be told. */
function told(t: TestContext): { readonly env: Record<string, string>; readonly messages: () => string } {
  const directory = mkdtempSync(join(tmpdir(), 'notify-'));
  const file = join(directory, 'messages');
  const descriptor = openSync(file, 'a');
  t.after(() => {
    closeSync(descriptor);
    rmSync(directory, { recursive: true });
  });
  return {
    env: { NOTIFY_SOCKET: '/run/systemd/notify', NOTIFY_FD: String(descriptor) },
    messages: () => readFileSync(file, 'utf8'),
  };
}

test('systemd is told of readiness with a status line, and of the end', async (t) => {
  const { env, messages } = told(t);
  const manager = serviceManager(env);
  await manager.ready('serves 3 objects');
  assert.equal(messages(), 'READY=1\nSTATUS=serves 3 objects');
  await manager.stopping();
  assert.match(messages(), /STOPPING=1$/);
});

test('the watchdog is fed twice in its period, and not before readiness', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { env, messages } = told(t);
  const manager = serviceManager({ ...env, WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(process.pid) });
  t.mock.timers.tick(60_000);
  assert.equal(messages(), '');
  await manager.ready('');
  t.mock.timers.tick(30_000);
  assert.equal(messages().match(/WATCHDOG=1/g)?.length, 2);
});

test('a watchdog that watches another process, or none, is not fed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { env, messages } = told(t);
  await serviceManager({ ...env, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' }, 2).ready('');
  await serviceManager(env).ready('');
  t.mock.timers.tick(60_000);
  assert.doesNotMatch(messages(), /WATCHDOG/);
});

test('without systemd nothing is written', async (t) => {
  const { env, messages } = told(t);
  const manager = serviceManager({ ...env, NOTIFY_SOCKET: undefined, WATCHDOG_USEC: '1000' });
  await manager.ready('');
  await manager.stopping();
  assert.equal(messages(), '');
});

test('a socket that is gone is no failure', async () => {
  await serviceManager({ NOTIFY_SOCKET: '/run/systemd/notify', NOTIFY_FD: '9999' }).ready('');
});
