import { writeFileSync } from 'node:fs';
import { referencePages } from './pages.ts';

for (const [file, text] of referencePages())
  writeFileSync(new URL(`../../docs/reference/${file}`, import.meta.url), text);
