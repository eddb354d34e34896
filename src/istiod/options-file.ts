import { basename } from 'node:path';
import type { Diagnostic, SourceLocation } from '../base/diagnostic.ts';
import { type Finding, fieldPath, type Path } from '../config/finding.ts';
import { locationAt, offsetOf } from '../config/locate.ts';
import { normalized, writtenPath } from '../config/normalize.ts';
import type { Message } from '../config/schema/schema.ts';
import { explainedSyntax } from '../config/syntax.ts';
import { readYaml } from '../config/yaml.ts';

/** A file of options in YAML, which is one object of a schema. */
export interface OptionsFile<T> {
  /** Undefined when the text can not be read at all: findings say why. */
  readonly value: T | undefined;
  readonly findings: readonly Finding[];
  /** In the order of findings, after those about the syntax. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where a field stands. */
  place(path: Path): SourceLocation;
}

/**
 * Reads options: unknown ones are errors.
 *
 * @param file for findings
 * @param check what the schema does not say
 */
export function readOptions<T extends object>(
  file: string,
  text: string,
  schema: Message,
  check: (written: T) => Iterable<Finding>,
): OptionsFile<T> {
  const raw = { file, line: 1, text };
  const { value, problems, events } = readYaml(text);
  const explained = problems.map((problem) =>
    problem.severity === 'error' ? explainedSyntax(text, problem).problem : problem,
  );
  const syntax = explained.map(({ severity, code, offset, message }) => ({
    severity,
    code,
    message,
    location: locationAt(raw, offset),
  }));
  const written = (path: Path): Path => writtenPath(value, path);
  const place = (path: Path, part: 'key' | 'value' = 'value'): SourceLocation =>
    locationAt(raw, offsetOf(text, events, written(path), part));
  if (syntax.some(({ severity }) => severity === 'error'))
    return { value: undefined, findings: [], diagnostics: syntax, place };
  const read = normalized({ ...schema, file: basename(file) }, value ?? {}, {
    unknownField: 'error',
    deprecatedField: 'warning',
    lastOfGroup: false,
  });
  const findings = [...read.findings, ...check((read.value ?? {}) as T)];
  const diagnostics = [
    ...syntax,
    ...findings.map(({ severity, code, message, path }) => ({
      severity,
      code,
      message,
      ...(path.length > 0 && { path: fieldPath(written(path)) }),
      location: place(path, code === 'VM0001' ? 'key' : 'value'),
    })),
  ];
  return { value: read.value as T | undefined, findings, diagnostics, place };
}
