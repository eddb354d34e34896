import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descriptorsModule } from './descriptors.ts';
import { discoveryModule } from './discovery.ts';
import { encoderModule } from './encoder.ts';
import { loadProtos } from './load.ts';
import { modelOf } from './model.ts';
import { rulesModule } from './rules.ts';
import { typesModule } from './types.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(project, 'generated/proto');
const root = loadProtos(project);
const model = modelOf(root);
const texts: Readonly<Record<string, string>> = {
  'types.ts': typesModule(model),
  'encoder.ts': encoderModule(model),
  'descriptors.ts': descriptorsModule(model),
  'discovery.ts': discoveryModule(model),
  'rules.ts': rulesModule(root, model),
};
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(texts)) {
  // A process that runs meanwhile must not load half a file.
  const unfinished = join(folder, `.${name}.${process.pid}`);
  writeFileSync(unfinished, text);
  renameSync(unfinished, join(folder, name));
}
