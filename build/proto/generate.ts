import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descriptorsModule } from './descriptors.ts';
import { discoveryModule } from './discovery.ts';
import { encoderModule } from './encoder.ts';
import { loadProtos } from './load.ts';
import { modelOf } from './model.ts';
import { typesModule } from './types.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(project, 'generated/proto');
const model = modelOf(loadProtos(project));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'types.ts'), typesModule(model));
writeFileSync(join(folder, 'encoder.ts'), encoderModule(model));
writeFileSync(join(folder, 'descriptors.ts'), descriptorsModule(model));
writeFileSync(join(folder, 'discovery.ts'), discoveryModule(model));
