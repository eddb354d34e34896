import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/base/json.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { encodeMessage } from '../../../src/proto/message.ts';
import { messageName } from '../../../src/proto/type-urls.ts';

const corpus = fileURLToPath(new URL('../../../../shared/conformance/public', import.meta.url));
const files = globSync('*/expected/*/{cds,eds,lds,rds,ecds,nds,sds}.json', { cwd: corpus }).sort();
const skip: string | false = files.length === 0 && `no conformance cases in ${corpus}`;

test('every resource that an istiod answered is the same after encoding and decoding', { skip }, () => {
  for (const file of files) {
    for (const resource of JSON.parse(readFileSync(`${corpus}/${file}`, 'utf8')) as readonly JsonObject[]) {
      const { '@type': url, ...message } = resource;
      const name = messageName(String(url));
      assert.deepEqual(decodeMessage(name, encodeMessage(name, message)), message, file);
    }
  }
});
