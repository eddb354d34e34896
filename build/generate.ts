// Makes everything under generated/, in the order of need.
await import('./proto/generate.ts');
await import('./schemas/generate.ts');

export {};
