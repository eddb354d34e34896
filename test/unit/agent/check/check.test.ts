import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iptables } from '../../../../src/agent/capture/command.ts';
import type { Run } from '../../../../src/agent/capture/iptables.ts';
import { check } from '../../../../src/agent/check/check.ts';
import { freePorts } from '../../../support/free-port.ts';
import { WorkDir } from '../../../support/work-dir.ts';

/** A machine without rules. */
const noRules: Run = () => '';

async function checked(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly text: string }> {
  using dir = new WorkDir('check');
  for (const [file, text] of Object.entries(files)) dir.write(file, text);
  const [statusPort] = await freePorts(1);
  let text = '';
  const out = { write: (part: string) => (text += part) };
  const code = await check(dir.path, { PROXY_CONFIG: JSON.stringify({ statusPort }), ...env }, out, noRules);
  return { code, text };
}

test('a machine without anything is told all that it lacks, each with what to do', async () => {
  const { code, text } = await checked(
    { 'etc/resolv.conf': '# none\n' },
    { ISTIO_ADDRESS: 'unix:none.sock', ENVOY_PATH: 'none', ISTIO_META_DNS_CAPTURE: 'true' },
  );
  assert.equal(code, 2);
  for (const line of [
    /^missing {2}istiod at unix:none.sock does not answer: connect ENOENT none.sock; look whether it runs/m,
    /^missing {2}there is nothing to get a certificate by.*put a token into var\/run\/secrets\/tokens\/istio-token/m,
    /^missing {2}there is no Envoy at .*: install it/m,
    /^missing {2}there is no name server for names outside of the mesh: write nameserver lines/m,
    /^missing {2}traffic is not captured as it should be: run istio-agent iptables apply as root; iptables -t nat: missing: /m,
    /^note {5}no agent answers on port \d+: start it/m,
    /^5 things are missing$/m,
  ])
    assert.match(text, line);
});

test('what is wrong with the settings is what is missing', async () => {
  const { code, text } = await checked({ 'var/lib/istio/envoy/sidecar.env': 'ISTIO_ADRESS=a\n' }, {});
  assert.equal(code, 2);
  assert.equal(
    text,
    'missing  var/lib/istio/envoy/sidecar.env:1:1: error VM0601: ISTIO_ADRESS is no variable of istio-agent: write ISTIO_ADDRESS, if that is meant\n1 thing is missing\n',
  );
});

test('a token is something to get a certificate by, and what is not wanted is not missing', async () => {
  const { text } = await checked(
    { 'var/run/secrets/tokens/istio-token': 'secret' },
    { ISTIO_ADDRESS: 'unix:none.sock', DISABLE_ENVOY: 'true', ISTIO_CUSTOM_IP_TABLES: 'true' },
  );
  assert.match(text, /^ok {7}there is something to get a certificate by: the token/m);
  assert.match(text, /^note {5}the agent goes without an Envoy/m);
  assert.match(text, /^1 thing is missing$/m);
});

test('the rules of capture are left to somebody else where that is said', () => {
  using dir = new WorkDir('check');
  let text = '';
  const out = { write: (part: string) => (text += part) };
  const never: Run = () => assert.fail('nothing is run');
  const env = { ISTIO_CUSTOM_IP_TABLES: 'true' };
  for (const verb of ['apply', 'check', 'remove'] as const) assert.equal(iptables(dir.path, env, verb, out, never), 0);
  assert.match(text, /somebody else sees to the capture/);
  assert.equal(iptables(dir.path, {}, 'check', out, noRules), 2);
  assert.throws(
    () => iptables(dir.path, { ISTIO_INBOUND_PORTS: 'http' }, 'print', out, never),
    /ISTIO_INBOUND_PORTS can not be "http": write a port/,
  );
});
